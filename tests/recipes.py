"""The recipes of CONTRIBUTING.md, each run as a module of its own."""

import functools
import re
import sys
import types
from pathlib import Path

PAGE = Path(__file__).parent.parent / "CONTRIBUTING.md"


def section(title):
    """The text under "### title"."""
    return PAGE.read_text(encoding="utf-8").split(f"\n### {title}\n")[1].split("\n#")[0]


def line(title):
    """The one line under "### title" that is code as a whole, without its last comma."""
    (found,) = re.findall(r"^`(.*),`$", section(title), re.M)
    return found


@functools.cache  # a kernel's name belongs to one class
def recipe(title):
    """The module that the code block under "### title" makes."""
    (code,) = re.findall(r"```python\n(.*?)```", section(title), re.S)
    module = types.ModuleType("recipe_" + title.split()[-1])
    sys.modules[module.__name__] = module
    exec(compile(code, f"{PAGE.name}, {title}", "exec"), module.__dict__)
    return module
