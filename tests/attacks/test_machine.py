"""Faults of the machine, such as full disks, closed pipes, kills, two runs at once, no home folder, other locales."""

import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pandas as pd
import pytest

from cli.command import iris

from .command import ENVIRONMENT, SOURCE, refused, run, start


@pytest.fixture
def data(tmp_path):
    iris()[0].to_csv(tmp_path / "iris.csv", index=False)
    return tmp_path


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def limit(what, size):
    """For `preexec_fn`: set a limit."""
    return lambda: resource.setrlimit(what, (size, size))


@pytest.mark.parametrize("ending", [".csv", ".xlsx", ".db"])
def test_a_disk_that_fills_up_while_a_table_is_written(data, ending):
    (data / f"out{ending}").write_text("precious")
    out = ["-o", f"out{ending}", "--force"]
    # Such a limit makes every write beyond it fail as a full disk does.
    code, _, errors = run("embed", "iris.csv", *out, cwd=data, preexec_fn=limit(resource.RLIMIT_FSIZE, 300))
    refused(code, errors)
    assert (data / f"out{ending}").read_text() == "precious"
    assert files(data) == ["iris.csv", f"out{ending}"]


def test_a_full_disk(data):
    small = data / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", small], capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        (small / "out.csv").write_text("precious")
        (small / "filler").write_bytes(b"x" * 8000)
        wide = pd.concat([pd.read_csv(data / "iris.csv")] * 10)
        wide.to_csv(data / "wide.csv", index=False)
        code, _, errors = run("embed", "wide.csv", "-o", "small/out.csv", "--force", cwd=data)
        assert "No space left" in refused(code, errors)
        assert (small / "out.csv").read_text() == "precious"
        assert files(small) == ["filler", "out.csv"]
    finally:
        subprocess.run(["umount", small], check=True)


def test_standard_output_on_a_full_disk(data):
    with open("/dev/full", "w") as full:
        for arguments in (["embed", "iris.csv", "-o", "-"], ["look", "iris.csv"], ["look", "iris.csv", "--json"]):
            code, _, errors = run(*arguments, cwd=data, stdout=full)
            assert "No space left" in refused(code, errors)


@contextlib.contextmanager
def locked(folder):
    """A folder that cannot be written, not even by root."""
    if os.geteuid():
        folder.chmod(0o555)
        yield
        folder.chmod(0o755)
        return
    if subprocess.run(["mount", "--bind", folder, folder], capture_output=True).returncode:
        pytest.skip("root may write anywhere, and mounting is not allowed here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def test_folders_that_cannot_be_written(data):
    closed = data / "closed"
    closed.mkdir()
    shutil.copy(data / "iris.csv", closed)
    with locked(closed):
        for arguments in (
            ["iris.csv", "-o", "closed/out.csv"],
            ["iris.csv", "-r", "closed/r.html"],
            ["closed/iris.csv"],
        ):
            code, _, errors = run("embed", *arguments, cwd=data)
            assert " cannot be written (" in refused(code, errors)
        code, _, errors = run("embed", "closed/iris.csv", "-o", "out.csv", cwd=data)
        assert code == 0, errors
    assert files(closed) == ["iris.csv"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_cannot_be_read(data):
    (data / "iris.csv").chmod(0o000)
    code, _, errors = run("embed", "iris.csv", cwd=data)
    assert "iris.csv cannot be read" in refused(code, errors)


@pytest.mark.parametrize("arguments", [["methods"], ["embed", "wide.csv", "-o", "-"]], ids=str)
def test_a_reader_that_goes_away_is_no_error(data, arguments):
    pd.concat([pd.read_csv(data / "iris.csv")] * 200).to_csv(data / "wide.csv", index=False)
    process = start(*arguments, cwd=data)
    process.stdout.close()
    errors = process.stderr.read()
    assert process.wait(timeout=100) == 0, errors
    assert "Traceback" not in errors and "Exception" not in errors, errors


def test_streams_that_are_closed_from_the_start(data):
    command = " ".join(["exec", sys.executable, "-c", "'from mercer.cli import main; main()'", "embed", "iris.csv"])
    for closing in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        done = subprocess.run(["sh", "-c", f"{command} --force {closing}"], cwd=data, env=ENVIRONMENT, timeout=100)
        assert done.returncode == 0, closing
        assert len(pd.read_csv(data / "iris_embedded.csv")) == 50


@pytest.mark.timeout(600)
def test_two_hundred_kills_at_random_moments(data):
    (data / "iris.csv").rename(data / "data.csv")
    environment = ENVIRONMENT | {"PYTHONPATH": os.pathsep.join([str(SOURCE), str(Path(__file__).parents[1])])}
    command = [sys.executable, "-m", "attacks.killing", data, "200", "0"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=550)
    *wrong, last = done.stdout.splitlines() or [done.stderr]
    assert not wrong, "\n".join(wrong[:5])
    ends = json.loads(last)["ends"]
    assert sum(ends.values()) == 200
    assert {end.partition(": ")[2] for end in ends} == {"all new", "all old"}, ends  # before, while and after writing


def test_two_runs_on_one_output(data):
    runs = [start("embed", "iris.csv", "-d", str(k), "-o", "out.csv", cwd=data) for k in (1, 2)]
    ends = [(process.communicate()[1], process.returncode) for process in runs]
    assert sorted(code for _, code in ends) in ([0, 2], [0, 3])  # one comes first, and is not replaced
    winner = [code for _, code in ends].index(0)
    assert list(pd.read_csv(data / "out.csv").columns[6:]) == ["component_1", "component_2"][: winner + 1]
    runs = [start("embed", "iris.csv", "-d", str(k), "-o", "out.csv", "--force", cwd=data) for k in (3, 4)]
    assert [(process.communicate(), process.returncode)[1] for process in runs] == [0, 0]
    assert len(pd.read_csv(data / "out.csv").dropna()) == 9  # whole, from one of the two runs
    assert files(data) == ["iris.csv", "out.csv"]


def test_a_file_that_grows_while_it_is_read(data):
    lines = (data / "iris.csv").read_text().splitlines(keepends=True)
    stop = threading.Event()

    def grow():
        while not stop.is_set():
            with open(data / "iris.csv", "a") as file:
                file.write(lines[7])
            time.sleep(0.002)

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        code, _, errors = run("embed", "iris.csv", cwd=data)
    finally:
        stop.set()
        writer.join()
    assert code == 0, errors
    written, grown = pd.read_csv(data / "iris_embedded.csv"), pd.read_csv(data / "iris.csv")
    assert len(written) <= len(grown)
    pd.testing.assert_frame_equal(written[grown.columns], grown[: len(written)])


@pytest.mark.parametrize("home", [None, "/dev/null"], ids=str)
def test_no_home(data, home):
    environment = {name: value for name, value in ENVIRONMENT.items() if name not in ("HOME", "MPLCONFIGDIR")}
    environment |= {} if home is None else {"HOME": home}
    report = ["-r", "r.html", "--quiet"]
    code, said, errors = run("novelty", "iris.csv", *report, cwd=data, env=environment)
    assert (code, said, errors) == (0, "", "")


def test_a_numba_cache_that_cannot_be_written(data):
    """An installation that is read only, and no home: the loops are then compiled for this run only."""
    place = data / "place"
    shutil.copytree(SOURCE / "mercer", place / "mercer", ignore=shutil.ignore_patterns("__pycache__"))
    environment = ENVIRONMENT | {"HOME": "/dev/null", "PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("XDG_CACHE_HOME", None)
    with locked(place / "mercer" / "solvers" / "ball"), locked(place / "mercer" / "estimators"):
        code, _, errors = run("novelty", "iris.csv", "--quiet", cwd=data, env=environment)
    assert (code, errors) == (0, "")
    assert not list(place.rglob("*.nbc"))


def test_four_processes_that_compile_at_once(data):
    environment = ENVIRONMENT | {"NUMBA_CACHE_DIR": str(data / "cache")}
    runs = [start("novelty", "iris.csv", "-o", f"out{k}.csv", cwd=data, env=environment) for k in range(4)]
    for process in runs:
        _, errors = process.communicate(timeout=200)
        assert process.returncode == 0, errors
    assert len({(data / f"out{k}.csv").read_bytes() for k in range(4)}) == 1
    assert any((data / "cache").rglob("*.nbc"))


@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"TERM": "dumb"}], ids=str
)
def test_another_locale_or_terminal(data, locale):
    frame = pd.read_csv(data / "iris.csv").rename(columns={"flower": "Blüte 花"})
    frame.to_csv(data / "花.csv", index=False)
    code, _, errors = run(
        "label", "花.csv", "-t", "species", "-m", "rls", "-r", "r.html", cwd=data, env=ENVIRONMENT | locale
    )
    assert code == 0 and "Traceback" not in errors, errors
    assert list(pd.read_csv(data / "花_labeled.csv").columns)[:2] == ["Blüte 花", "sepal length"]
    assert "Blüte 花" in (data / "r.html").read_text(encoding="utf-8")
