"""The documentation site, built quickly: no warning, no dead link, nothing from elsewhere, answers two clicks away."""

import html
import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mercer

ROOT = Path(__file__).parent.parent
NEEDED = ("sphinx", "pydata_sphinx_theme", "numpydoc", "myst_parser", "sphinx_gallery", "sphinx_design")
missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
if missing:
    pytest.skip(f"{', '.join(missing)} not installed, so that the site is not built", allow_module_level=True)

spec = importlib.util.spec_from_file_location("links", ROOT / "docs" / "links.py")
links = importlib.util.module_from_spec(spec)
spec.loader.exec_module(links)


def text_of(page):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page)).split())


def every_public_name_has_a_page_with_its_docstring(site):
    for name in mercer.__all__:  # only letters and digits, because sphinx has quotes and dashes of its own
        page = re.sub(r"[\W_]", "", text_of((site / "api" / f"{name}.html").read_text()))
        first = inspect.getdoc(getattr(mercer, name)).splitlines()[0]
        assert re.sub(r"[\W_]", "", first) in page, name


def clicked(site, words):
    """The page that a reader comes to from the first one by clicking links with these words; None where one is not."""
    page = "index.html"
    for word in words:
        found = re.findall(r'<a [^>]*?href="([^"]+)"[^>]*>(.*?)</a>', (site / page).read_text(), re.S)
        link = next((html.unescape(link) for link, text in found if text_of(text).rstrip("#") == word), None)
        if link is None:
            return None
        page = links.target_of(site, page, link)[0]
    return page


def twenty_questions_are_answered_within_two_clicks(site):
    lines = (ROOT / "tests" / "questions.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")][1:]
    assert len(rows) == 20
    away = links.clicks(site)
    for question, answer, way, words in rows:
        target, _, anchor = answer.partition("#")
        assert away[target] <= 2, f"{question} {target} is {away[target]} clicks away"
        steps = [step.strip() for step in way.split("›")]
        assert len(steps) <= 2 and clicked(site, steps) == target, f"{question} {steps} do not lead to {target}"
        page = (site / target).read_text()
        after = page[page.index(f'id="{html.escape(anchor)}"') :] if anchor else page
        assert words.strip("`") in text_of(after), f"{question} {answer} lacks {words}"


def every_page_is_found_from_the_first_one(site):
    hidden = {"search.html", "genindex.html", "py-modindex.html"}
    pages = {name for name in links.read(site) if not name.startswith("_modules/")} - hidden
    assert pages <= set(links.clicks(site))


@pytest.mark.timeout(600)
def test_the_site(tmp_path):
    """One build for all that is asked of it: sphinx warns of nothing and every link leads somewhere, or it ends."""
    command = [sys.executable, str(ROOT / "docs" / "build.py"), "--quick", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all links lead somewhere" in done.stdout
    site = tmp_path / "html"
    every_public_name_has_a_page_with_its_docstring(site)
    twenty_questions_are_answered_within_two_clicks(site)
    every_page_is_found_from_the_first_one(site)


def test_a_dead_link_is_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">b</a> <a href="c.html">c</a> <img src="https://x.org/i.png">'
    )
    (tmp_path / "b.html").write_text('<p id="there">b</p> <a href="a.html">a</a>')
    found = links.broken(tmp_path)
    assert len(found) == 3
    assert any("no such anchor" in line for line in found)
    assert any("c.html, which is not there" in line for line in found)
    assert any("from elsewhere" in line for line in found)
    (tmp_path / "c.html").write_text('<a href="d.html">d</a>')
    (tmp_path / "d.html").touch()
    assert links.clicks(tmp_path, "a.html") == {"a.html": 0, "b.html": 1, "c.html": 1, "d.html": 2}


def test_examples_are_many_and_have_one_picture_and_one_insight():
    examples = sorted((ROOT / "examples" / "gallery").rglob("plot_*.py"))
    assert len(examples) >= 15
    for path in examples:
        text = path.read_text()
        assert text.count("plt.subplots(") == 1, path.name
        assert text.count("**Insight:") == 1, path.name
        assert len(text.splitlines()) <= 80, path.name
