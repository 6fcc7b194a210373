"""Measurements behind every published number. Each script is run from the project root with ``python -m``."""
