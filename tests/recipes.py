"""The recipes of CONTRIBUTING.md, each run as a module of its own."""

import functools
import re
import sys
import types
from pathlib import Path

PAGE = Path(__file__).parent.parent / "CONTRIBUTING.md"


@functools.cache  # a kernel's name belongs to one class
def recipe(title):
    """The module that the code block under "### title" makes."""
    section = PAGE.read_text(encoding="utf-8").split(f"\n### {title}\n")[1].split("\n#")[0]
    (code,) = re.findall(r"```python\n(.*?)```", section, re.S)
    module = types.ModuleType("recipe_" + title.split()[-1])
    sys.modules[module.__name__] = module
    exec(compile(code, f"{PAGE.name}, {title}", "exec"), module.__dict__)
    return module
