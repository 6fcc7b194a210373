"""Runs attacks in a process of their own, which is replaced when an attack kills it or takes too long."""

import contextlib
import importlib
import multiprocessing
import os
import resource
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread

SECONDS = 120  # an attack that takes longer has failed. Compiling loops for the first time takes a part of it
START = 120  # so has one whose process does not even start
MEMORY = 2 << 30  # so has one after which the process was ever larger than this


@dataclass
class Tally:
    """What came of a number of attacks."""

    kind: str
    outcomes: Counter = field(default_factory=Counter)  # how they ended, such as "exit 0"
    failures: dict[int, str] = field(default_factory=dict)  # seed: what was wrong
    seconds: float = 0.0

    @property
    def tried(self) -> int:
        return sum(self.outcomes.values())


def attack(kind: str, seeds, jobs: int = 1, seconds: float = SECONDS, told=lambda seed, fault: None) -> Tally:
    """Run the attacks of these seeds; `kind` is a module of this package with a function `attack(seed, folder)`.

    It returns how the attack ended, in few words; whatever it raises is a failure.
    """
    tally, left, begun, lock = Tally(kind), iter(seeds), time.perf_counter(), Lock()

    def work():
        worker = _Worker(kind)
        for seed in left:
            outcome, fault = worker.run(seed, seconds)
            with lock:
                tally.outcomes[outcome] += 1
                if fault:
                    tally.failures[seed] = fault
                    told(seed, fault)
        worker.end()

    threads = [Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tally.seconds = time.perf_counter() - begun
    return tally


class _Worker:
    """A spawned process that runs one attack at a time and has nothing in common with this one."""

    def __init__(self, kind):
        self.kind, self.process = kind, None

    def run(self, seed, seconds):
        """(how it ended, what was wrong or None)."""
        if self.process is None:
            context = multiprocessing.get_context("spawn")
            self.pipe, theirs = context.Pipe()
            self.process = context.Process(target=_serve, args=(self.kind, theirs), daemon=True)
            self.process.start()
            theirs.close()
            if not self.pipe.poll(START):
                self.process.kill()
                return self._lost("killed", f"did not start within {START} s")
            self.pipe.recv()  # it has imported what it needs
        self.pipe.send(seed)
        if not self.pipe.poll(seconds):
            self.process.kill()
            return self._lost("killed", f"took more than {seconds:g} s")
        try:
            outcome, fault, peak = self.pipe.recv()
        except EOFError:
            return self._lost("died", "the process died")
        if peak > MEMORY / 2:  # the next attack is measured in a small process
            self.end()
            self.process = None
        return outcome, fault

    def _lost(self, outcome, fault):
        self.process.join()
        code, self.process = self.process.exitcode, None
        return outcome, f"{fault} (exit code {code})"

    def end(self):
        if self.process is not None:
            self.pipe.send(None)
            self.process.join(10)


def _serve(kind, pipe):
    module = importlib.import_module(f"attacks.{kind}")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    pipe.send("ready")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for seed in iter(pipe.recv, None):
            pipe.send(_one(module, seed, Path(folder) / str(seed)))


def _one(module, seed, folder):
    """(how it ended, what was wrong or None, the largest size of this process in bytes) of one attack."""
    folder.mkdir()
    try:
        outcome, fault = module.attack(seed, folder), None
    except AssertionError as error:
        outcome, fault = "failed", str(error)
    except Exception:
        outcome, fault = "failed", traceback.format_exc()
    peak = peak_memory()
    if fault is None and peak > MEMORY:
        outcome, fault = "failed", f"the process grew to {peak / 2**30:.1f} GB"
    _remove(folder)
    return outcome, fault, peak


def peak_memory():
    """The largest size of this process in bytes. `ru_maxrss` would begin with that of the process that spawned it."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (line,) = [line for line in lines if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def _remove(folder):
    for root, folders, files in os.walk(folder, topdown=False):
        for name in files:
            os.unlink(Path(root) / name)
        for name in folders:
            os.rmdir(Path(root) / name)
    os.rmdir(folder)
