"""The scoreboard: this library beside everything a user would pick instead. See `__main__.py` for the command."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # the other benchmarks import `harness` as a plain module
