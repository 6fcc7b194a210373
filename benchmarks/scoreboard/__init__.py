"""The scoreboard: this library next to everything a user would pick instead. See `__main__.py` for the command."""

from pathlib import Path

HERE = Path(__file__).resolve().parent
