"""A session of numbers in a real browser: typed numbers, blind checks, ranges on the map, review, undo.

A second target is of classes. The page switches between the two.
"""

import csv

import numpy as np
import pytest

from .acting import labels, learned, open_row, places, read, saved, wait
from .conftest import Server


@pytest.fixture(scope="module")
def studio(tmp_path_factory, chromium):
    """A server on a table of plants whose height is to be typed, and whose site is a class."""
    pytest.importorskip("starlette", reason="the studio needs starlette and uvicorn")
    folder, draw = tmp_path_factory.mktemp("numbers"), np.random.default_rng(0)
    X = draw.uniform(0, 10, (150, 2))
    y = np.round(3 * X[:, 0] - X[:, 1] + draw.normal(0, 0.3, 150), 1)
    with open(folder / "plants.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["name", "age", "shade", "height"])
        table.writerows([f"plant {i}", *(f"{v:.2f}" for v in x), ""] for i, x in enumerate(X))
    running = Server(folder, X, y, "--target", "height", "--target", "site", "--as", "height=number")
    yield running
    running.end()


def give(page, studio, many=1):
    """Type the true number of the open row, so many times."""
    for _ in range(many):
        row = open_row(page)
        page.keyboard.type(f"{studio.y[row]:g}")
        page.keyboard.press("Enter")
        wait(page, f"store.given[{row}] >= 0")
    saved(page)
    return row


def test_numbers_are_typed_and_predicted(page, studio):
    open_row(page)
    assert page.inner_text("#class-hint") == "5\xa0more numbers, and predictions begin."
    assert page.locator("#add-class").is_hidden() and page.locator(".choices").is_hidden()
    page.fill("#number", "a dozen")
    page.press("#number", "Enter")
    assert "not a number" in page.inner_text("#notice") and labels(page) == {}
    page.press("#number", "Escape")
    give(page, studio, 16)
    assert all(value == studio.y[row] for row, (value, _) in labels(page).items())
    learned(page)
    predicted = np.array(page.evaluate("Array.from(store.predicted)"))
    assert np.corrcoef(predicted, studio.y)[0, 1] > 0.9
    assert page.locator(".class-row").count() == 5 and page.inner_text(".class-row .name >> nth=0").startswith("up to")
    # The map has the color of its range in the middle of each label, but where another mark is above it.
    at, box = places(page), page.locator("#over").bounding_box()
    drawn = page.evaluate(
        "async rows => { const {colors, colorOf} = await import('/static/palette.js'), all = colors().classes;"
        " const pen = document.querySelector('#marks').getContext('2d');"
        " return rows.map(([row, x, y]) => { const [r, g, b] = pen.getImageData(x, y, 1, 1).data;"
        " return (0xff000000 | b << 16 | g << 8 | r) >>> 0 === all[colorOf(store.given[row])]; }); }",
        [[row, round(at[row][0] - box["x"]), round(at[row][1] - box["y"])] for row in labels(page)],
    )
    assert sum(drawn) > len(drawn) / 2


def test_a_check_is_blind_and_a_guess_is_accepted(page, studio):
    learned(page)
    seen = set()
    while len(seen) < 2:
        row, kind = open_row(page), page.get_attribute("#card", "data-via")
        if kind == "random":
            assert page.locator("#accept-number").is_hidden() and page.locator(".number-scale").is_hidden()
            assert not page.inner_text("#reasons") and "Type the number yourself" in page.inner_text(".check-hint")
            assert "Predicted" not in page.inner_text(".predicted-number")
            page.keyboard.press("Enter")
            assert page.evaluate(f"store.given[{row}]") == -1
            give(page, studio)
        else:
            wait(page, "document.querySelector('.predicted-number').innerText.includes('90% interval')")
            number = page.inner_text("#accept-number").removeprefix("Accept").removesuffix("↵").strip()
            page.keyboard.press("Enter")
            saved(page)
            assert labels(page)[row][0] == float(number)
        seen.add(kind)


def test_undo_restores_the_predictions(page, studio):
    before = learned(page)
    row = give(page, studio)
    assert learned(page) != before
    page.keyboard.press("u")
    wait(page, f"store.given[{row}] === -1")
    assert learned(page) == before and row not in labels(page)
    page.keyboard.press("Shift+U")
    wait(page, f"store.given[{row}] >= 0")
    assert labels(page)[row][0] == studio.y[row]


def test_the_tolerance_makes_the_checks_count(page, studio):
    learned(page)
    if not page.evaluate("store.session.tolerance"):
        assert page.inner_text("#goal-text") == "set a tolerance"
    page.click("#goal-text")
    page.fill("#settings [name=tolerance]", "2,5")
    wait(page, "store.session.tolerance === 2.5")
    wait(page, "document.querySelector('#accuracy').innerText.includes('within ± 2.5')")
    page.click("#tab-next")
    give(page, studio, 6)
    learned(page)
    wait(page, "store.accuracy.random.checks > 1")
    random = read(page, "/api/accuracy")["random"]
    assert 0 < random["low"] < random["value"] <= random["high"] == 1


def test_rows_of_a_range_and_a_number_that_looks_wrong(page, studio):
    learned(page)
    page.click(".class-row >> nth=4")
    page.wait_for_selector("#selected li")
    rows = page.evaluate("[...document.querySelectorAll('#selected li')].map(one => Number(one.dataset.row))")
    assert np.mean(studio.y[rows]) > np.quantile(studio.y, 0.7) and page.locator("#selected input").count() == 0
    page.click("#clear-filters")
    row = open_row(page)
    page.keyboard.type(f"{100 + studio.y[row]:g}")
    page.keyboard.press("Enter")
    saved(page)
    learned(page)
    wait(page, "document.querySelector('#review-count').innerText >= 1")
    page.keyboard.press("r")
    page.wait_for_selector(f"#review-list li.at[data-row='{row}']")
    page.keyboard.type(f"{studio.y[row]:g}")
    page.keyboard.press("Enter")
    saved(page)
    assert labels(page)[row] == (studio.y[row], "review")


def test_a_phone_shows_the_field(page, studio):
    page.set_viewport_size({"width": 390, "height": 780})
    open_row(page)
    box = page.locator("#number").bounding_box()
    assert box["y"] + box["height"] < 780 and page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_page_switches_to_another_target(page, studio):
    numbers = labels(page)
    page.select_option("#target", "site")
    page.wait_for_selector("html[data-kind=classes][data-ready]")
    page.evaluate("async () => { window.store = (await import('/static/store.js')).store; }")
    assert labels(page) == {} and page.locator("#number").is_hidden()
    wait(page, "store.current !== null")  # its own learner chose the first rows
    page.fill("#first-class", "garden")
    page.press("#first-class", "Enter")
    saved(page)
    assert [value for value, _ in labels(page).values()] == [0]
    page.select_option("#target", "height")
    page.wait_for_selector("html[data-kind=numbers][data-ready]")
    assert labels(page) == numbers
