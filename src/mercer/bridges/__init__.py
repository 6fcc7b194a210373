"""Connections to other tools. Each module needs its package only when it is used."""
