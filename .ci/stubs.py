"""Write src/mercer/__init__.pyi, so that type checkers know every public name; the package itself loads them lazily.

python .ci/stubs.py
"""

from pathlib import Path

import mercer

PAGE = Path(__file__).parents[1] / "src" / "mercer" / "__init__.pyi"


def text() -> str:
    """The contents of the stub file."""
    lines = ["# ruff: noqa: I001", "# Written by .ci/stubs.py from the table of names in __init__.py.", ""]
    lines += sorted(f"from .{home} import {name} as {name}" for name, home in mercer.exports.items())
    return "\n".join([*lines, "", "__version__: str", "exports: dict[str, str]", "__all__: list[str]"]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
