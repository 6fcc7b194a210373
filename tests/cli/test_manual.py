"""The manual page has the text of `--help`, and shells complete the commands."""

import re
import shutil
import subprocess

import pytest

from mercer.cli.manual import entries, markdown, roff

from .command import ENVIRONMENT, MERCER, here


def flags_in(text):
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", text))


def test_every_option_of_the_help_is_in_the_manual_and_on_the_page():
    page = re.split(r"^\.SS ", roff().replace("\\-", "-").replace("\\fB", ""), flags=re.M)
    sections = re.split(r"^## ", markdown(), flags=re.M)[1:]
    for entry, told, written in zip(entries(), page, sections):
        shown = here(*entry.name.split()[1:], "--help").output
        lines = [line.strip() for line in shown.splitlines() if line.strip().startswith("-")]
        flags = {flag for line in lines for flag in flags_in(line.split("  ")[0])}
        assert {"-h", "--help"} <= flags
        assert flags <= flags_in(told), entry.name
        assert flags <= flags_in(written), entry.name
        assert all(" ".join(p.strip("\b").split()) in " ".join(shown.split()) for p in entry.paragraphs)
    assert {entry.name.split()[-1] for entry in entries()} >= {"mercer", "label", "studio", "man"}


def test_man_is_accepted_by_man():
    if not shutil.which("groff"):
        pytest.skip("groff is not installed, so that no program reads the manual page")
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=roff(), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "130: stopped." in done.stdout
    assert here("man").output == roff()


@pytest.mark.parametrize(
    "typed, offered",
    [(["lab"], ["label"]), (["label", "t.csv", "--tar"], ["--target"]), (["co"], ["compare"])],
)
def test_bash_completes(typed, offered):
    asked = {"_MERCER_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(["mercer", *typed]), "COMP_CWORD": len(typed)}
    environment = ENVIRONMENT | {name: str(value) for name, value in asked.items()}
    done = subprocess.run([MERCER], env=environment, capture_output=True, text=True)
    assert (done.stdout.split(), done.stderr) == (offered, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_is_told_how_to_complete(shell):
    environment = ENVIRONMENT | {"_MERCER_COMPLETE": f"source_{shell}"}
    done = subprocess.run([MERCER], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and f"_MERCER_COMPLETE=complete_{shell}" in done.stdout
