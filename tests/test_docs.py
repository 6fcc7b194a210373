"""The pages that are made from the code are as new as the code."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_methods_page_is_current():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert generate.PAGE.read_text() == generate.table(), "run: python docs/generate.py"


MADE = ("api/", "gallery/", "commands.md")  # by docs/build.py. tests/test_site.py follows all links of the site


def test_links_and_pictures_exist():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in target and not target.startswith(MADE):
                assert (page.parent / target).exists(), f"{page.name} points to {target}, which is not there"


def test_walks_name_functions_that_exist():
    page = (ROOT / "docs" / "code-walks.md").read_text()
    steps = re.findall(
        r"^ *(\w+(?:/\w+)+) +([A-Za-z_.]+)", "\n".join(re.findall(r"```text\n(.*?)```", page, re.S)), re.M
    )
    assert len(steps) > 20
    for place, name in steps:
        home = ROOT / "src" / "mercer" / place
        files = [home.with_suffix(".py")] if home.with_suffix(".py").exists() else list(home.glob("*.py"))
        code = "".join(path.read_text() for path in files)
        for part in name.split("."):
            assert re.search(rf"(def|class) {part}\b", code), f"{place} has no {name}"


def test_messages_of_the_troubleshooting_page_exist():
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    sources = " ".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    words = re.findall(r"^\| `([^`]+)` \|", page, re.M)
    assert len(words) >= 8
    assert [one for one in words if one not in sources] == []
