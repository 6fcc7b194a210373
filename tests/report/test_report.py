"""The report is self-contained, small, and safe for any content of the user's table."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from mercer.report import Findings, Points, render

NASTY = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><b>",
    "a & b",
    "{{ 7*7 }}",
    "=cmd|'x'!A1",
]


def findings(n=50, names=None):
    rng = np.random.default_rng(0)
    k = len(NASTY)
    codes = rng.integers(0, k, n)
    given = np.arange(n) < 12
    codes[-3:] = -1
    confidence = rng.uniform(0.3, 0.99, n)
    names = names or [NASTY[i % k] for i in range(n)]
    return Findings(
        title=NASTY[0],
        subtitle=NASTY[1],
        facts=[(NASTY[0], NASTY[1])],
        tiles=[("38", "rows filled in"), ("76 %", NASTY[2])],
        classes=NASTY,
        points=Points(rng.normal(size=(n, 2)), codes, given, confidence, names, {NASTY[0]: names}),
        confidence=confidence[~given],
        abstain=0.5,
        coverage=[(0.5, 1.0, 0.6, 1.0), (1.0, 0.8, 0.5, 0.95)],
        candidates=[{"name": NASTY[0], "right": 0.8, "low": 0.5, "high": 0.95, "weight": 0.6, "seconds": 0.1}],
        n_candidates=9,
        balance=[(name, 2, 5) for name in NASTY],
        n_abstained=3,
        suggestions=[((NASTY[0], NASTY[4]), NASTY[1], 0.5, NASTY[2])],
        suspicious=[((NASTY[0], NASTY[4]), NASTY[1], NASTY[2], NASTY[3])],
        doubtful=[((NASTY[0], NASTY[4]), NASTY[1], 0.4, NASTY[3])],
        majority=(NASTY[0], 0.3),
        recall=[
            {"name": NASTY[1], "tested": 4, "right": 3, "low": 0.3, "high": 0.95, "taken": [(NASTY[2], 1)]},
            {"name": NASTY[3], "tested": 0, "right": 0, "low": 0.0, "high": 1.0, "taken": []},
        ],
        odd=[((NASTY[0], NASTY[1]), 0.9, NASTY[2])],
        groups=[{"name": NASTY[0], "size": 3, "distinctive": [NASTY[1]], "rows": [(NASTY[2], NASTY[3])]}],
        how_many=[(2, 0.5, False), (3, 0.6, True)],
        columns=[
            {
                "name": NASTY[0],
                "kind": "text",
                "use": NASTY[1],
                "why": NASTY[2],
                "missing": 0,
                "say": 0.5,
                "effect": 0.1,
            }
        ],
        reasons=[NASTY[0], "Plain words."],
        notes=[NASTY[1]],
        code="print('<b>')",
    )


class Page(HTMLParser):
    """Collects what a browser would run, load and show."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.scripts, self.stack = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "br", "img", "link", "input"):
            self.stack.append(tag)

    def handle_endtag(self, tag):
        while self.stack and self.stack.pop() != tag:
            pass

    def handle_data(self, data):
        (self.scripts if self.stack and self.stack[-1] == "script" else self.text).append(data)


def test_names_from_the_users_file_are_shown_and_never_run():
    text = render(findings())
    page = Page(text)
    tags = [tag for tag, _ in page.tags]
    assert tags.count("script") == 2  # the data and the script of the page
    assert "img" not in tags
    assert not [key for _, attributes in page.tags for key in attributes if key.startswith("on")]
    shown = "".join(page.text)
    for name in NASTY:
        assert name in shown
    data = json.loads(page.scripts[0])
    assert data["classes"] == NASTY
    assert data["names"][0] == NASTY[0][:40]
    assert "49" not in re.findall(r"<h1>(.*?)</h1>", text)[0]


def test_the_file_is_complete_in_itself():
    text = render(findings())
    page = Page(text)
    assert not [tag for tag, a in page.tags if tag in ("link", "iframe", "object", "embed") or "src" in a]
    outside = set(re.findall(r"https?://[^\s\"'<)]+", text)) - {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert not {url for url in outside if not url.startswith("http://www.w3.org/")}
    assert "default-src 'none'" in text
    ours = base64.b64encode(hashlib.sha256(page.scripts[-1].encode()).digest()).decode()
    assert f"script-src 'sha256-{ours}'" in text and "script-src 'unsafe" not in text  # no other script may run
    assert "@media screen and (prefers-color-scheme: dark)" in text  # on paper it is light, whatever the screen is
    assert "@media print" in text
    assert 'name="viewport"' in text


def test_figures_take_their_colors_from_the_page():
    text = render(findings())
    figures = re.findall(r"<svg.*?</svg>", text, flags=re.S)
    assert len(figures) == 2
    for figure in figures:
        assert "var(--accent)" in figure
        assert "#0102" not in figure
        assert 'role="img"' in figure


def test_ten_thousand_rows_fit_in_a_megabyte_and_a_half():
    text = render(findings(10_000, [f"customer number {i:06d}" for i in range(10_000)]))
    assert len(text.encode()) < 1_500_000
    assert "are drawn" not in text


def test_a_sample_is_said_to_be_one():
    found = findings()
    found.n_rows = 15_000
    assert "50 of 15,000 rows are drawn" in render(found)


def test_far_out_points_do_not_squeeze_the_others():
    found = findings(1000)
    found.points.xy[0] = [1e6, -1e6]
    data = json.loads(Page(render(found)).scripts[0])
    assert np.ptp(np.sort(data["x"])[10:-10]) > 3000  # of 10,000


def test_sections_without_content_are_left_out():
    text = render(Findings("Only a title"))
    assert "<h2>" not in text
    assert "<canvas" not in text


@pytest.mark.parametrize("n", [1, 2])
def test_one_point_is_no_special_case(n):
    found = Findings(
        "t", classes=["a"], points=Points(np.zeros((n, 2)), np.zeros(n, int), np.ones(n, bool), np.ones(n), ["r"] * n)
    )
    assert json.loads(Page(render(found)).scripts[0])["x"] == [0] * n


def test_few_rows_are_counted_in_whole_numbers_and_in_the_singular():
    text = render(Findings("t", confidence=np.array([0.56]), balance=[("a", 1, 1)], n_abstained=1))
    figure = re.findall(r"<svg.*?</svg>", text, flags=re.S)[0]
    ticks = re.findall(r">([\d.]+)</text>", figure)
    assert {"0", "1"} <= set(ticks)
    assert "0.2" not in ticks
    assert "Confidence of the 1 row without a label." in text
    assert "1 row was left unlabeled." in text


def test_the_settings_of_a_candidate_stand_below_its_name():
    found = findings()
    found.candidates[0] |= {"name": "Least-squares SVM", "settings": "gamma=10: <RBF>"}
    assert "<td>Least-squares SVM<small>gamma=10: &lt;RBF&gt;</small></td>" in render(found)


def test_more_classes_than_colors_have_shapes_too():
    names = [f"class {k}" for k in range(30)]
    points = Points(np.random.default_rng(0).normal(size=(30, 2)), np.arange(30), np.ones(30, bool), np.ones(30), names)
    page = render(Findings("t", classes=names, points=points))
    marks = re.findall(r'class="dot (shape\d)" style="background:(var\(--c\d+\))', page)
    assert len(marks) == len(set(marks)) == 30
    assert "Outlined marks are the given labels" in page
    assert "Diamonds are the given labels" in render(findings())


def test_tooltips_hold_whole_texts_unless_they_are_too_many():
    def told(n):
        story = ["word " * 200] * n
        points = Points(np.zeros((n, 2)), np.zeros(n, int), np.zeros(n, bool), np.ones(n), ["r"] * n, {"story": story})
        return json.loads(Page(render(Findings("t", classes=["a"], points=points))).scripts[0])["cells"]["story"][0]

    assert told(100) == "word " * 200
    assert len(told(5000)) == 200 and told(5000).endswith("…")


def test_several_findings_are_parts_of_one_page():
    page = Page(render(findings(), findings()))
    assert [tag for tag, _ in page.tags].count("script") == 3  # the data of each and the script of the page
    assert [a["href"] for tag, a in page.tags if tag == "a"] == ["#part1", "#part2"]
    ids = [a["id"] for tag, a in page.tags if tag == "article"]
    assert ids == ["part1", "part2"]


def test_a_class_that_was_not_tested_is_said_to_be_so():
    text = render(findings())
    assert "3 of 4" in text
    assert "not tested" in text


def test_names_that_are_no_letters_are_replaced():
    page = render(Findings("bytes \udcff of a file name"))
    assert "bytes ? of a file name" in page and page.encode("utf-8")
