"""Ctrl-C and signals. The result is the best so far, or nothing."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from .command import ENVIRONMENT, MERCER, here


class Terminal:
    """The installed command with its progress bar on a terminal; Ctrl-C comes when the bar says a certain thing."""

    def __init__(self, *arguments, cwd):
        self.screen, slave = pty.openpty()
        command = [MERCER, *map(str, arguments)]
        environment = {**ENVIRONMENT, "TERM": "xterm"}
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=slave,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a background job may ignore Ctrl-C
        )
        os.close(slave)
        self.seen = ""

    def read(self):
        try:
            chunk = os.read(self.screen, 4096)
        except OSError:  # the other side is closed
            chunk = b""
        self.seen += chunk.decode(errors="replace")
        return bool(chunk)

    def interrupt_at(self, words):
        begin = len(self.seen)
        while words not in self.seen[begin:]:
            assert self.read(), self.seen
        self.process.send_signal(signal.SIGINT)
        return self

    def end(self):
        while self.read():
            pass
        self.said = self.process.stdout.read().decode()
        self.process.stdout.close()
        os.close(self.screen)
        return self.process.wait(timeout=120)


@pytest.fixture
def slow(tmp_path):
    """A table whose first neighbor graph takes a second or so, and all candidates more."""
    rng = np.random.default_rng(0)
    codes = np.arange(2000) % 3
    frame = pd.DataFrame((1.5 * rng.normal(size=(3, 20)))[codes] + rng.normal(size=(2000, 20)))
    frame["kind"] = np.where(np.arange(2000) < 12, np.array(["a", "b", "c"])[codes], "")
    frame.to_csv(tmp_path / "slow.csv", index=False)
    return tmp_path


def test_ctrl_c_during_the_search_keeps_the_best_so_far(slow):
    terminal = Terminal("label", "slow.csv", "-t", "kind", "--report", "r.html", "-s", "m.mercer", cwd=slow)
    assert terminal.interrupt_at("building RBF").end() == 0, (
        terminal.seen
    )  # the candidates of the first space are fitted
    assert "note: Interrupted. The prediction is that of the" in terminal.seen
    assert re.search(r"\d+%.*building RBF kernel", terminal.seen)  # a fraction done, next to what is being done
    assert "1,988 rows labeled from 12 labels" in terminal.said
    truth = np.array(["a", "b", "c"])[np.arange(2000) % 3]
    assert (pd.read_csv(slow / "slow_labeled.csv")["kind_predicted"] == truth).mean() > 0.9
    page = (slow / "r.html").read_text(encoding="utf-8")
    assert "The search was interrupted, which left out" in page
    assert "Interrupted. The prediction is that of the" in page
    assert sorted(os.listdir(slow)) == ["m.mercer", "r.html", "slow.csv", "slow_labeled.csv"]


def test_a_second_ctrl_c_stops_and_writes_nothing(slow):
    terminal = Terminal("label", "slow.csv", "-t", "kind", "--report", "r.html", cwd=slow)
    terminal.interrupt_at("building RBF").interrupt_at("drawing the rows")
    assert terminal.end() == 130, terminal.seen
    assert "mercer: Stopped while making the report. Nothing was written." in terminal.seen
    assert "Traceback" not in terminal.seen
    assert terminal.said == ""
    assert os.listdir(slow) == ["slow.csv"]


def test_ctrl_c_before_there_is_an_answer_says_so(slow):
    terminal = Terminal("compare", "slow.csv", "-t", "kind", cwd=slow)
    assert terminal.interrupt_at("building neighbor graph").end() == 130, terminal.seen
    assert "mercer: Stopped while trying every method on 2000 rows and 12 labels. Nothing was written." in terminal.seen
    assert "Traceback" not in terminal.seen
    assert os.listdir(slow) == ["slow.csv"]


def test_ctrl_c_while_the_report_is_made_leaves_out_the_report(tmp_path, data, monkeypatch):
    def interrupt(*rest):
        raise KeyboardInterrupt

    monkeypatch.setattr("mercer.jobs.class_findings.doubt", interrupt)
    done = here("label", data, "-t", "species", "--report", tmp_path / "r.html", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["report"] is None
    assert "No report is written" in json.loads(done.stdout)["notes"][-1]
    assert sorted(os.listdir(tmp_path)) == ["iris.csv", "iris_labeled.csv"]


def test_ctrl_c_while_files_are_written_leaves_none(tmp_path, data, monkeypatch):
    def interrupt(*rest):
        raise KeyboardInterrupt

    monkeypatch.setattr("mercer.inputs.tables.formats.Csv.write", interrupt)  # report and model are written by then
    done = here("label", data, "-t", "species", "--report", tmp_path / "r.html", "-s", tmp_path / "m.mercer")
    assert done.exit_code == 130
    assert "Stopped while writing. Nothing was written." in done.output
    assert os.listdir(tmp_path) == ["iris.csv"]


def test_ctrl_c_while_grouping_keeps_the_best_groups_so_far(tmp_path, data, monkeypatch):
    from mercer.solvers.lloyd import _Start

    whole, calls = _Start.step, iter(range(100))

    def step(self, *rest, **more):
        if next(calls) == 10:  # the ten starts have been evaluated once
            raise KeyboardInterrupt
        whole(self, *rest, **more)

    monkeypatch.setattr(_Start, "step", step)
    done = here("cluster", data, "-x", "species", "-k", "6", "-o", tmp_path / "c.csv", "--json")
    assert done.exit_code == 0, done.output
    assert any("was interrupted after" in note for note in json.loads(done.stdout)["notes"])
    assert set(pd.read_csv(tmp_path / "c.csv")["cluster"]) == {1, 2, 3, 4, 5, 6}


def test_a_killed_command_leaves_no_temporary_files(slow):
    terminal = Terminal("label", "slow.csv", "-t", "kind", cwd=slow)
    while "building neighbor graph" not in terminal.seen:
        assert terminal.read(), terminal.seen
    terminal.process.terminate()
    assert terminal.end() == 143
    assert os.listdir(slow) == ["slow.csv"]


INTERRUPTED_IMPORT = """
import os, signal, sys, time
from importlib.abc import MetaPathFinder

class Compiled(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "mercer.jobs.auditing":
            try:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(5)
            except KeyboardInterrupt as error:
                raise ImportError("initialization failed") from error

sys.meta_path.insert(0, Compiled())
sys.argv = ["mercer", "audit", "t.csv", "-t", "kind", "--hint", "guess"]
from mercer.cli import main
main()
"""


def test_ctrl_c_during_an_import_is_an_interrupt(tmp_path):
    """Compiled modules raise an ImportError when Ctrl-C comes while they are imported."""
    listening = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)  # noqa: E731
    command = [sys.executable, "-c", INTERRUPTED_IMPORT]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, preexec_fn=listening, timeout=60)
    assert done.returncode == 130, done.stderr
    assert done.stderr.strip() == "mercer: Stopped while starting. Nothing was written."


def test_ctrl_c_during_the_start_is_answered_within_two_seconds(slow):
    for wait in (0.5, 1.0):
        terminal = Terminal("label", "slow.csv", "-t", "kind", cwd=slow)
        time.sleep(wait)
        begun = time.perf_counter()
        terminal.process.send_signal(signal.SIGINT)
        code = terminal.process.wait(timeout=20)
        assert time.perf_counter() - begun < 2.0
        terminal.end()
        assert code in (130, -signal.SIGINT) and "fault" not in terminal.seen, terminal.seen
    assert os.listdir(slow) == ["slow.csv"]
