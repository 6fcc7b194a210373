"""The manual page and the completion say what `--help` says, and a shell takes them."""

import json
import re
import shutil
import subprocess

import pytest

from mercer.cli.completion import SHELLS, script
from mercer.cli.manual import entries, markdown, roff

from .command import here


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
    assert {entry.name.split()[-1] for entry in entries()} >= {"mercer", "label", "studio", "man", "completion"}


def test_man_is_accepted_by_man():
    if not shutil.which("groff"):
        pytest.skip("groff is not installed, so that no program reads the manual page")
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=roff(), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "130: stopped." in done.stdout
    assert here("man").output == roff()


@pytest.mark.parametrize(
    "typed, offered",
    [(["lab"], ["label"]), (["label", "t.csv", "--tar"], ["--target"]), (["co"], ["compare", "completion"])],
)
def test_bash_completes(typed, offered):
    words = " ".join(f"'{word}'" for word in ["mercer", *typed])
    asked = (
        f'{script("bash")}\nCOMP_WORDS=({words}) COMP_CWORD={len(typed)}\n_mercer\nprintf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True)
    assert (done.stdout.split(), done.stderr) == (offered, "")


def test_fish_and_zsh_have_every_flag():
    for shell in SHELLS:
        assert json.loads(here("completion", shell, "--json").stdout)["script"] == script(shell)
    fish = script("fish").replace("-l ", "--").replace("-s ", "-")
    assert {flag for entry in entries() for flags, _ in entry.options for flag in flags_in(flags)} <= flags_in(fish)
    assert script("bash") in script("zsh")
    wrong = here("completion", "tcsh")
    assert wrong.exit_code == 2
