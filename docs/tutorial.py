"""Run the commands and the Python of the tutorials and of index.md, write what they print, and draw the report.

    python docs/tutorial.py

The first line of each block that begins with ```console is a command behind `$ `. It runs in a terminal as wide as the
page. Blocks of Python run in order, those of start.md in a process each, those of the others in one. A block ```text
after one of them is what it prints. docs/img/report.png is the report of the first command, drawn by chromium.
"""

import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

DOCS = Path(__file__).parent
WIDTH = 88  # characters of a line of the page
LONGEST, SHOWN = 40, 14  # lines: of a longer output the first ones are shown
SETTINGS = {"OMP_NUM_THREADS": "1", "COLUMNS": str(WIDTH), "NO_COLOR": "1", "TERM": "dumb", "PYTHONWARNINGS": "ignore"}


def environment():
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return os.environ | {"PATH": places} | SETTINGS


def run(command, folder):
    """Lines that a command prints on a terminal."""
    reader, writer = pty.openpty()
    with subprocess.Popen(
        command, shell=True, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, stdout=writer, stderr=writer
    ) as process:
        os.close(writer)
        printed = bytearray()
        try:
            while piece := os.read(reader, 65536):
                printed += piece
        except OSError:  # the end, on Linux
            pass
    os.close(reader)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}:\n{printed.decode()}")
    lines = printed.decode().replace("\r", "").rstrip().expandtabs(4).splitlines()
    found = [part for line in lines for part in (textwrap.wrap(line, WIDTH, subsequent_indent="  ") or [""])]
    return found if len(found) <= LONGEST else [*found[:SHOWN], "..."]


def with_outputs(text, folder):
    """The page of commands with new outputs."""

    def block(found):
        if found[1] == "python":
            subprocess.run([sys.executable, "-c", found[2]], cwd=folder, check=True)
            return found[0]
        command = found[2].splitlines()[0].removeprefix("$ ")
        lines = [f"$ {command}", *run(command.replace(" \\ ", " "), folder)]
        return "```console\n" + "\n".join(lines) + "\n```"

    return re.sub(r"```(console|python)\n(.*?)\n```", block, text, flags=re.S)


def with_printed(text, folder):
    """The page of Python with new outputs: a block of text behind a block of Python is what that prints."""
    blocks = list(re.finditer(r"```python\n(.*?)\n```(?:\n\n```text\n(.*?)\n```)?", text, re.S))
    mark = "<<<end of a block>>>"
    code = f"\nprint({mark!r})\n".join(found[1] for found in blocks)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        raise SystemExit(f"The Python of a page ended with {done.returncode}.")
    for found, printed in reversed(list(zip(blocks, done.stdout.split(mark)))):
        lines = [part for line in printed.strip().splitlines() for part in textwrap.wrap(line, WIDTH) or [""]]
        shown = "\n\n```text\n" + "\n".join(lines) + "\n```" if lines else ""
        text = text[: found.start()] + f"```python\n{found[1]}\n```" + shown + text[found.end() :]
    return text


def draw(report, picture):
    """Draw the first screens of a report; without chromium the picture stays as it is."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("chromium is not installed: docs/img/report.png is not drawn")
        return
    options = [
        "--headless",
        "--no-sandbox",
        "--hide-scrollbars",
        "--window-size=1000,1400",
        "--force-device-scale-factor=1",
    ]
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [chromium, *options, f"--user-data-dir={profile}", f"--screenshot={picture}", report.resolve().as_uri()],
            check=True,
            stderr=subprocess.DEVNULL,
        )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, renewed in (
            ("start.md", with_outputs),
            ("start-python.md", with_printed),
            ("index.md", with_printed),
        ):
            page = DOCS / name
            page.write_text(renewed(page.read_text(encoding="utf-8"), folder), encoding="utf-8")
            print(f"wrote {page.name}")
        draw(folder / "out" / "digits_report.html", DOCS / "img" / "report.png")
