"""What a browser shows: cells as text, classes and exports, every width, names for screen readers."""

import numpy as np
import pytest

from .acting import PATIENCE, begin, key, labels, learnt, open_row, press_truth, saved, wait


def test_hostile_cells_are_text(page, studio):
    open_row(page)
    page.click(".tools [data-zoom=fit]")
    page.evaluate("async () => (await import('/static/actions.js')).go(1)")
    wait(page, "document.querySelector('#card .cells')?.textContent.includes('<img src=x onerror=alert(1)>')")
    page.fill("[name=search]", "onerror")
    page.wait_for_selector("#selected tbody tr")
    assert page.locator("img[src='x'], #card b:text-is('bold')").count() == 0
    page.fill("#class-name", "<i>x</i>")
    page.press("#class-name", "Enter")
    page.wait_for_selector(".class-row:has-text('<i>x</i>')")
    page.click(".more >> nth=-1")
    page.click("#class-dialog button:has-text('Hide')")
    page.wait_for_selector("#hidden-classes button:has-text('<i>x</i>')")


def test_rename_merge_review_and_export(page, studio):
    begin(page, studio, least=36)
    learnt(page)
    given = {row: id for row, (id, via) in labels(page).items() if id != "cannot" and via != "lasso"}
    middle = studio.X[studio.y == 0].mean(axis=0)  # of roses: no other label is contradicted as clearly there
    row = min((row for row in given if studio.y[row] == 0), key=lambda row: np.linalg.norm(studio.X[row] - middle))
    truth = given[row]
    page.evaluate(f"async () => (await import('/static/actions.js')).go({row})")
    page.keyboard.press(key(page, studio, int(np.argmax(studio.y == 1))))  # wrong on purpose
    learnt(page)
    page.keyboard.press("r")
    page.wait_for_selector(f"#review-list li[data-row='{row}']")
    while not page.locator(f"#review-list li.at[data-row='{row}']").count():
        page.keyboard.press("j")
    page.keyboard.press("Enter")
    saved(page)
    assert labels(page)[row] == (truth, "review")
    page.click("#tab-accuracy")
    page.wait_for_selector("#accuracy .surely")
    page.click(".class-row:has-text('lily') + .more")
    page.fill("#class-dialog input", "white lily")
    page.click("#class-dialog .primary")
    page.wait_for_selector(".class-row:has-text('white lily')")
    page.click(".class-row:has-text('white lily') + .more")
    page.click("#class-dialog button:has-text('Merge')")
    page.wait_for_selector(".class-row:has-text('white lily')", state="hidden")
    page.keyboard.press("u")
    page.wait_for_selector(".class-row:has-text('white lily')")
    page.keyboard.press("u")
    page.wait_for_selector(".class-row:has(.name:text-is('lily'))")
    page.click("#export")
    page.click("#export-list button:has-text('CSV')")
    page.wait_for_selector("#export-list .good")
    path = page.inner_text("#export-list .good").removeprefix("written: ")
    assert (studio.folder / path).exists()


def test_thirty_classes(page, studio):
    begin(page, studio)
    more = [f"herb {k}" for k in range(30 - page.locator(".class-row").count())]
    page.evaluate(
        "async names => { const {changeClass} = await import('/static/actions.js');"
        " for (const name of names) await changeClass({op: 'add', name}); }",
        more,
    )
    wait(page, "document.querySelectorAll('.class-row').length === 30")
    marks = page.locator(".class-row .glyph").evaluate_all(
        "all => all.map(one => one.getAttribute('class') + one.innerHTML)"
    )
    assert len(set(marks)) == 30  # colour and shape tell them all apart
    shown = page.locator(".class-row").evaluate_all("all => all.map(one => Number(one.dataset.class))")
    row = open_row(page)
    page.keyboard.press("Shift+Digit2")
    wait(page, f"store.known[{row}] === {shown[11]}")
    row = open_row(page)
    page.fill(".chip-search", page.locator(".class-row .name").nth(28).inner_text())
    page.press(".chip-search", "Enter")
    wait(page, f"store.known[{row}] === {shown[28]}")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("u")
    page.keyboard.press("u")
    saved(page)
    assert row not in labels(page)
    reason = page.evaluate("async row => (await (await fetch(`/api/why/${row}`)).json()).reason", row)
    assert reason  # also where nothing can be learnt any more


def test_layouts(page, studio):
    def positions():
        return {name: page.locator(name).bounding_box() for name in ("#left", "#middle", "#right")}

    wide = positions()
    assert wide["#left"]["x"] < wide["#middle"]["x"] < wide["#right"]["x"]
    for width, height in ((1000, 800), (720, 450), (400, 800)):  # 720 × 450: 1 440 × 900 at 200 %
        page.set_viewport_size({"width": width, "height": height})
        narrow = positions()
        assert narrow["#right"]["y"] < narrow["#middle"]["y"] < narrow["#left"]["y"]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 22, 26)"
    page.emulate_media(media="print", color_scheme="light")
    assert page.locator(".top nav").is_hidden() and page.locator("#marks").is_visible()


def test_accessible_names_and_states(page, studio):
    begin(page, studio, least=4)
    learnt(page)
    open_row(page)
    assert page.locator("[aria-live]").count() == 1
    tree = page.locator("body").aria_snapshot()
    for line in (
        'heading "plants.csv"',
        'tab "Next" [selected]',
        'tab "Accuracy',
        'button "Undo',
        'application "Map of 180 rows',
        "searchbox",
        'group "Classes"',
        "article",
    ):
        assert line in tree, line
    press_truth(page, studio)
    wait(page, "document.querySelector('#live').textContent.includes('Next')")
    page.focus("#tab-next")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#tab-review", "aria-selected") == "true"


def test_axe_finds_nothing_serious(studio, chromium):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    context = chromium.new_context(viewport={"width": 1440, "height": 900}, bypass_csp=True)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(studio.url)
    page.wait_for_selector("html[data-ready]")
    page.evaluate("async () => { window.store = (await import('/static/store.js')).store; }")
    begin(page, studio, least=4)
    learnt(page)
    for scheme, view in (
        ("light", "review"),
        ("light", "history"),
        ("dark", "accuracy"),
        ("dark", "next"),
        ("light", "help"),
    ):
        page.emulate_media(color_scheme=scheme)
        page.keyboard.press("?") if view == "help" else page.click("#tab-" + view)
        page.wait_for_timeout(300)
        found = axe.Axe().run(page).response["violations"]
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == [], view
    context.close()
