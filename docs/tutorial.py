"""Run the commands of docs/start.md and write what they print into the page.

    python docs/tutorial.py

The first line of each block that begins with ```console is a command behind `$ `. The commands and the blocks of Python
run in order in one folder. Lines longer than the page are wrapped.
"""

import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

PAGE = Path(__file__).parent / "start.md"
WIDTH = 110


def run(command, folder):
    """The output of a command, with notes in their place."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    settings = os.environ | {"PATH": places, "OMP_NUM_THREADS": "1", "COLUMNS": str(WIDTH), "NO_COLOR": "1"}
    done = subprocess.run(
        command, shell=True, cwd=folder, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stdout}")
    lines = [line.expandtabs(4) for line in done.stdout.rstrip().splitlines()]
    return [part for line in lines for part in (textwrap.wrap(line, WIDTH, subsequent_indent="  ") or [""])]


def renewed(text, folder):
    """The page with new outputs."""

    def block(found):
        if found[1] == "python":
            subprocess.run([sys.executable, "-c", found[2]], cwd=folder, check=True)
            return found[0]
        command = found[2].splitlines()[0].removeprefix("$ ")
        lines = [f"$ {command}", *run(command, folder)]
        return "```console\n" + "\n".join(lines) + "\n```"

    return re.sub(r"```(console|python)\n(.*?)\n```", block, text, flags=re.S)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8"), folder), encoding="utf-8")
    print(f"wrote {PAGE}")
