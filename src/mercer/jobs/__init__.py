"""Jobs on tables as functions without a console. They read, fit, predict, and collect columns and findings.

The command, the web app and Python call the same functions. Messages for users are sent as events (`mercer.events`).
"""
