"""Jobs on tables as functions without a console: read, fit, answer, columns, findings.

The command, the web app and Python call the same functions. What a user may be told is sent
as events (`mercer.events`).
"""
