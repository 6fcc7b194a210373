"""Reports in a browser with hostile names and cells. No code of the table runs, and nothing is loaded."""

import os
import random
import re
import shutil

import pandas as pd
import pytest
from typer.testing import CliRunner

from mercer.cli.app import app

from .cells import FORMULAS, MARKUP, STRANGE

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, ["chromium", "chromium-browser"])), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt-get install chromium")


def hostile(n=40):
    """A table whose classes, names and cells are markup."""
    R = random.Random(0)
    codes = [i % 2 for i in range(n)]
    pool = [*MARKUP, *FORMULAS, *STRANGE]
    labels = [MARKUP[code] if i < 12 else "" for i, code in enumerate(codes)]
    return pd.DataFrame(
        {
            MARKUP[2]: [pool[i % len(pool)] for i in range(n)],
            "<b>size</b>": [R.gauss(3 * code, 1) for code in codes],
            MARKUP[1]: [MARKUP[3 + code] for code in codes],
            "note": [f"{R.choice(MARKUP)} {R.choice(pool)} {R.choice(MARKUP)}" for _ in codes],
            MARKUP[3]: labels,
        }
    )


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


def opened(browser, path):
    """A page with everything that it does written down."""
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    page.requests, page.said = [], []
    page.expose_function("pwn", lambda: page.said.append("pwn"))
    page.on("request", lambda request: page.requests.append(request.url))
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("dialog", lambda dialog: (page.said.append(dialog.message), dialog.dismiss()))
    page.goto(path.as_uri())
    page.wait_for_timeout(200)
    return page


@pytest.mark.parametrize("command", ["label", "cluster", "novelty", "embed"])
def test_nothing_of_the_table_runs_in_a_report(tmp_path, browser, command):
    frame = hostile()
    frame.to_csv(tmp_path / "<img src=x onerror=pwn()>.csv", index=False)
    options = {"label": ["-t", MARKUP[3], "-m", "rls"], "cluster": ["-k", "2"]}.get(command, [])
    options += ["--id", MARKUP[2], "-r", str(tmp_path / "r.html"), "-o", str(tmp_path / "out.csv")]
    done = CliRunner().invoke(app, [command, str(tmp_path / "<img src=x onerror=pwn()>.csv"), *options])
    assert done.exit_code == 0, done.output
    page = opened(browser, tmp_path / "r.html")
    for mark in page.locator("canvas").all():
        box = mark.bounding_box()
        for step in range(1, 10):  # the tooltips
            page.mouse.move(box["x"] + box["width"] * step / 10, box["y"] + box["height"] * step / 10)
    for button in page.locator("button").all():
        button.click()
    page.wait_for_timeout(200)
    assert page.said == []
    assert page.requests == [(tmp_path / "r.html").as_uri()]
    assert page.evaluate("document.querySelectorAll('script').length") <= 3
    assert page.evaluate("document.querySelectorAll('iframe, svg[onload], img[src=x], [onmouseover]').length") == 0
    page.close()


def test_the_policy_of_a_report_stops_scripts_that_come_into_it(tmp_path, browser):
    """Were a cell ever not escaped, the policy would still forbid what it requests."""
    frame = hostile()
    frame.to_csv(tmp_path / "data.csv", index=False)
    CliRunner().invoke(app, ["novelty", str(tmp_path / "data.csv"), "-r", str(tmp_path / "r.html")])
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    injected = (
        "".join(MARKUP)
        + "<script>pwn()</script><script src='http://127.0.0.1:9/x.js'></script><link rel=stylesheet href=//x.y/z>"
    )
    (tmp_path / "r.html").write_text(re.sub("<main>", "<main>" + injected.replace("<!--", ""), text), encoding="utf-8")
    page = opened(browser, tmp_path / "r.html")
    assert "pwn" not in page.said
    assert any("Content Security Policy" in text for text in page.said)
    assert [url for url in page.requests if not url.startswith("file:")] == []
    page.close()
