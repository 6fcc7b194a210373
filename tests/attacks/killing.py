"""Forks a warm process again and again, runs a command in the child and kills it at a random moment.

`python -m attacks.killing FOLDER TIMES SEED` prints a line of JSON for each kill that broke a promise, then a summary.
"""

import json
import os
import random
import signal
import sys
import time
import zipfile
from collections import Counter
from pathlib import Path

from typer.testing import CliRunner

from mercer.cli import main
from mercer.cli.app import app

OLD = b"an older file, which must stay whole"
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]


def child(arguments):
    """Start the command in a child; returns its number. A signal that comes before the command does ends it at once."""
    before = [signal.signal(number, signal.SIG_DFL) for number in (signal.SIGINT, signal.SIGTERM)]
    number = os.fork()
    if number:
        for one, handler in zip((signal.SIGINT, signal.SIGTERM), before):
            signal.signal(one, handler)
        return number
    code = 1
    try:
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        sys.argv = ["mercer", *arguments]
        signal.signal(signal.SIGINT, signal.default_int_handler)  # as Python has it when a program starts
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except KeyboardInterrupt:  # Python ends so before and after the lines of the command
        code = 130
    finally:
        os._exit(code)


def whole(path, n):
    """Whether a file is complete. A table must have all n lines."""
    raw = path.read_bytes()
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as file:
            return file.testzip() is None and file.read("xl/worksheets/sheet1.xml").count(b"<row") == n
    return raw.count(b"\n") == n if path.suffix == ".csv" else raw.endswith(b"</html>")


def attack(folder, times, seed):
    folder, R = Path(folder), random.Random(int(seed))
    data = folder / "data.csv"
    original = data.read_bytes()
    n = original.count(b"\n")
    outs = [folder / name for name in ("out.xlsx", "out.csv", "page.html")]
    commands = [
        ["embed", str(data), "--kernel", "linear", "-o", str(outs[0]), "--force"],
        ["embed", str(data), "--kernel", "linear", "-o", str(outs[1]), "-r", str(outs[2]), "--force"],
    ]
    seconds = []
    for arguments in commands:
        CliRunner().invoke(app, arguments)  # so that the children find all modules imported
        begun = time.perf_counter()
        os.waitpid(child(arguments), 0)
        seconds.append(time.perf_counter() - begun)
    ends: Counter = Counter()
    for turn in range(int(times)):
        for out in outs:
            out.write_bytes(OLD)
        which = turn % 2
        number, last = child(commands[which]), R.choice(SIGNALS)
        time.sleep(R.random() * 1.1 * seconds[which])
        os.kill(number, last)
        _, status = os.waitpid(number, 0)
        killed = os.WIFSIGNALED(status)
        new = [out for out in outs if out.read_bytes() != OLD]
        ends[f"{last.name}: {'all new' if new else 'all old'}"] += 1
        wrong = []
        if data.read_bytes() != original:
            wrong.append("the input was changed")
        wrong += [f"{out.name} is half written: {out.stat().st_size} bytes" for out in new if not whole(out, n)]
        if len(new) not in (0, 1 + which) and not killed:
            wrong.append(f"only {[out.name for out in new]} is new")
        left = [path for path in folder.iterdir() if path.name.endswith(".part")]
        if left and not killed:
            wrong.append(f"left behind: {left}")
        for path in left:
            path.unlink()
        if not killed and os.WEXITSTATUS(status) not in (0, 130, 143):
            wrong.append(f"exit {os.WEXITSTATUS(status)}")
        if wrong:
            print(json.dumps({"turn": turn, "signal": last.name, "wrong": wrong}), flush=True)
    print(json.dumps({"ends": ends}), flush=True)


if __name__ == "__main__":
    attack(*sys.argv[1:])
