"""Print the declared minimum of every package as a pip constraint: of `dependencies`, and of the extras named."""

import re
import sys
import tomllib
from pathlib import Path

EXTRAS = ("cli", "studio")


def oldest(extras=EXTRAS):
    """["numpy==2.1", ...]"""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = project["dependencies"] + [line for name in extras for line in project["optional-dependencies"][name]]
    found = [re.match(r"([\w-]+)(?:\[.*\])?>=([\d.]+)$", line) for line in lines]
    return [f"{match[1]}=={match[2]}" for match in found if match]


if __name__ == "__main__":
    print("\n".join(oldest(tuple(sys.argv[1:]) or EXTRAS)))
