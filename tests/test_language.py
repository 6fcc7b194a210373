"""Words that mercer's prose avoids: hardly any in what users read, and at most a ceiling elsewhere.

`python tests/language.py` prints the table. A ceiling may be lowered, not raised.
"""

from pathlib import Path

import pytest

import language

ROOT = Path(__file__).parents[1]
COUNTS = language.counts(ROOT)
FORMS = language.counts(ROOT, language.FORMS)
BANNED = ("beside", "archaic", "5 %", "1 777", "British spelling", "odd rows", "withheld, left out", "share", "is no")
FEW = {("5 %", "messages"): 2}
MOST = {"docs": 2, "results": 6, "docstrings": 46, "messages": 14, "examples": 0}
MOST_FORMS = {
    "where for if": {"docs": 2, "results": 1, "examples": 0, "docstrings": 1, "messages": 0},
    "semicolons": {"docs": 0, "results": 0, "examples": 0, "docstrings": 6, "messages": 36},
    "colon splices": {"docs": 14, "results": 4, "examples": 4, "docstrings": 37, "messages": 45},
    "N a M": {"docs": 0, "results": 0, "examples": 0, "docstrings": 2, "messages": 0},
    "we, our": {"docs": 0, "results": 0, "examples": 0, "docstrings": 0, "messages": 1},
}


@pytest.mark.parametrize("name", BANNED)
@pytest.mark.parametrize("body", ("docs", "messages"))
def test_what_users_read_has_no_more_of_the_banned_words(name, body):
    assert COUNTS[name][body] <= FEW.get((name, body), 0), f"{name} in {body}: see tests/language.py"


@pytest.mark.parametrize("body", MOST)
def test_the_other_patterns_become_fewer(body):
    assert sum(row[body] for row in COUNTS.values()) <= MOST[body]


@pytest.mark.parametrize("name", MOST_FORMS)
def test_constructions_become_fewer(name):
    above = {body: FORMS[name][body] for body, most in MOST_FORMS[name].items() if FORMS[name][body] > most}
    assert not above, f"{name}: {above}, see tests/language.py"


def test_the_counter_finds_what_it_counts(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "src").mkdir()
    text = "Beside it, 5 % of 1 777 labelled rows. `beside`\nWe sort; 9 rows a second: fast where the rows are.\n"
    (tmp_path / "README.md").write_text(f"{text}| a; b |\n")
    (tmp_path / "src" / "a.py").write_text('"""Says what is withheld."""\nx = "the answer is right here"\n')
    for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"):
        (tmp_path / name).write_text("")
    found = language.counts(tmp_path)
    assert (found["beside"]["docs"], found["5 %"]["docs"], found["1 777"]["docs"]) == (1, 1, 1)
    assert found["British spelling"]["docs"] == 1 and found["say, tell"]["docstrings"] == 1
    assert found["withheld, left out"]["docstrings"] == 1 and found["answer"]["messages"] == 1
    forms = language.counts(tmp_path, language.FORMS)
    assert {name: row["docs"] for name, row in forms.items()} == dict.fromkeys(language.FORMS, 1)
