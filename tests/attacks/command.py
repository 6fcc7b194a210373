"""The command in a process of its own, started as a user starts it."""

import os
import subprocess
import sys
from pathlib import Path

import mercer

SOURCE = Path(mercer.__file__).parents[1]
MERCER = [sys.executable, "-c", "from mercer.cli import main; main()"]
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(SOURCE)}


def start(*arguments, cwd, **more):
    """The process of a command."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": ENVIRONMENT}
    return subprocess.Popen([*MERCER, *map(str, arguments)], cwd=cwd, text=True, **(pipes | more))


def run(*arguments, cwd, **more):
    """(exit code, standard output, standard error) of a command."""
    process = start(*arguments, cwd=cwd, **more)
    said, errors = process.communicate(timeout=200)
    return process.returncode, said or "", errors or ""


def refused(code, errors, codes=(2, 3)):
    """Check that a command ended with one sentence."""
    assert code in codes, (code, errors)
    (line,) = [line for line in errors.splitlines() if line.startswith("mercer: ")]
    assert "Traceback" not in errors and "fault in mercer" not in errors, errors
    assert len(line) <= 300, line
    return line
