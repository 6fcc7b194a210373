"""What a browser shows: cells as text, classes and exports, every width, names for screen readers."""

import numpy as np

from .acting import begin, key, labels, learned, open_row, press_truth, read, saved, wait


def test_hostile_cells_are_text(page, studio):
    open_row(page)
    page.click(".tools [data-zoom=fit]")
    page.evaluate("async () => (await import('/static/actions.js')).go(1)")
    wait(page, "document.querySelector('#card .cells')?.textContent.includes('<img src=x onerror=alert(1)>')")
    page.fill("[name=search]", "onerror")
    page.wait_for_selector("#selected li:has-text('onerror'), #selected li")
    assert page.locator("img[src='x'], #card b:text-is('bold')").count() == 0
    page.click("#add-class")
    page.fill("#names", "<i>x</i>")
    page.click("#names-add")
    page.wait_for_selector(".class-row:has-text('<i>x</i>')")
    page.click(".more >> nth=-1")
    page.click("#class-dialog button:has-text('Hide')")
    page.wait_for_selector("#hidden-classes button:has-text('<i>x</i>')")


def test_the_guess_keeps_its_name_and_fingers_find_every_button(page, studio):
    begin(page, studio)
    page.evaluate("async () => { for (const name of ['A', 'wild flowers of the southern mountains'])"
                  " await (await import('/static/actions.js')).changeClass({op: 'add', name}); }")  # fmt: skip
    open_row(page)
    cut = """async () => { const {paint} = await import('/static/choices.js'), found = [];
        for (const one of document.querySelectorAll('.choice')) {
          const id = Number(one.dataset.class), name = one.querySelector('.name'), text = document.createRange();
          paint(-1, id, [[id, 0.39]]); text.selectNodeContents(name);
          const outer = one.getBoundingClientRect(), words = text.getBoundingClientRect();
          const tail = one.querySelector('.enter').getBoundingClientRect();
          if (words.width < 5 || words.right > tail.left || tail.right > outer.right || words.bottom > outer.bottom)
            found.push(name.textContent);
          const broken = name.textContent.split(' ').length < [...text.getClientRects()].length;
          if (broken) found.push(name.textContent + ' is broken'); }
        return found; }"""
    for width in (1440, 1100, 400):
        page.set_viewport_size({"width": width, "height": 850})
        page.wait_for_timeout(100)
        assert page.evaluate(cut) == [], width
    heights = "all => all.filter(one => one.offsetParent).map(one => one.getBoundingClientRect().height)"
    assert min(page.locator("button").evaluate_all(heights)) > 43.9
    card, answer = (page.locator(one).bounding_box() for one in (".card-body", "#card .answer"))
    assert card["y"] + card["height"] <= answer["y"]  # nothing of the row is under the answers
    page.click("#focus")
    assert page.locator("#plot").is_hidden() and page.locator("#card .answer").is_visible()
    page.click("#focus")
    page.keyboard.press("u")
    page.keyboard.press("u")
    wait(page, "store.classes.filter(one => !one.hidden).length === 3")


def test_rename_merge_review_and_export(page, studio):
    begin(page, studio, least=36)
    learned(page)
    given = {row: id for row, (id, via) in labels(page).items() if id != "cannot" and via != "lasso"}
    middle = studio.X[studio.y == 0].mean(axis=0)  # of roses: no other label is contradicted as clearly there
    row = min((row for row in given if studio.y[row] == 0), key=lambda row: np.linalg.norm(studio.X[row] - middle))
    truth = given[row]
    page.evaluate(f"async () => (await import('/static/actions.js')).go({row})")
    page.keyboard.press(key(page, studio, int(np.argmax(studio.y == 1))))  # wrong on purpose
    learned(page)
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
    page.fill("#class-dialog input >> nth=0", "white lily")
    page.click("#class-dialog .primary")
    page.wait_for_selector(".class-row:has-text('white lily')")
    page.click(".class-row:has-text('white lily') + .more")
    page.click("#class-dialog button:has-text('Merge')")
    page.wait_for_selector(".class-row:has-text('white lily')", state="hidden")
    page.keyboard.press("u")
    page.wait_for_selector(".class-row:has-text('white lily')")
    page.keyboard.press("u")
    page.wait_for_selector(".class-row:has(.name:text-is('lily'))")
    key_of = "async () => (await import('/static/chips.js')).keys().get(2)"
    before = page.evaluate(key_of)
    page.click(".class-row:has(.name:text-is('rose')) + .more")
    page.click("#class-dialog button:text-is('Hide')")
    page.wait_for_selector("#hidden-classes button:has-text('rose')")
    assert page.evaluate(key_of) == before  # no key moves
    page.click("#hidden-classes button:has-text('rose')")
    page.wait_for_selector(".class-row:has(.name:text-is('rose'))")
    page.click("#export")
    with page.expect_download() as got:
        page.click("#export-list button:has-text('CSV')")
    page.wait_for_selector("#export-list .good")
    path = page.inner_text("#export-list .good").removeprefix("Downloaded. Copy: ")
    assert (studio.folder / path).read_bytes() == got.value.path().read_bytes()
    assert got.value.suggested_filename == "plants_labeled.csv"


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
    assert len(set(marks)) == 30  # color and shape distinguish them all
    shown = page.locator(".class-row").evaluate_all("all => all.map(one => Number(one.dataset.class))")
    row = open_row(page)
    shifted = page.get_attribute(".class-row:has(kbd:text-is('⇧2'))", "data-class")
    page.keyboard.press("Shift+Digit2")
    wait(page, f"store.known[{row}] === {shifted}")
    row = open_row(page)
    page.fill(".chip-search", page.locator(".class-row .name").nth(28).inner_text())
    page.press(".chip-search", "Enter")
    wait(page, f"store.known[{row}] === {shown[28]}")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("u")
    page.keyboard.press("u")
    saved(page)
    assert row not in labels(page)
    reason = read(page, f"/api/why/{row}")["reason"]
    assert reason  # also where nothing can be learned any more


def test_layouts(page, studio):
    def positions():
        return {name: page.locator(name).bounding_box() for name in ("#left", "#middle", "#right")}

    wide = positions()
    assert wide["#left"]["x"] < wide["#middle"]["x"] < wide["#right"]["x"]
    assert 0.5 < wide["#middle"]["width"] / 1440 < 0.6 and wide["#right"]["width"] == 380
    plot = page.locator("#plot").bounding_box()
    assert abs(plot["width"] - plot["height"]) < 2
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("m")
    large = positions()
    assert large["#right"]["x"] < large["#middle"]["x"] and large["#right"]["width"] > 700
    page.keyboard.press("z")
    assert page.locator("#left").is_hidden() and page.locator("#right").is_hidden()
    page.keyboard.press("z")
    page.keyboard.press("m")
    assert positions() == wide
    for width, height in ((1000, 800), (720, 450), (400, 800)):  # 720 × 450: 1,440 × 900 at 200%
        page.set_viewport_size({"width": width, "height": height})
        narrow = positions()
        assert narrow["#middle"]["y"] < narrow["#right"]["y"] < narrow["#left"]["y"]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        answer = page.locator("#card .answer").bounding_box()
        assert answer["y"] + answer["height"] <= height + 1  # the class buttons are always in sight
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 22, 26)"
    page.emulate_media(media="print", color_scheme="light")
    assert page.locator(".top nav").is_hidden() and page.locator("#marks").is_visible()


def test_accessible_names_and_states(page, studio):
    begin(page, studio, least=4)
    learned(page)
    open_row(page)
    assert page.locator("[aria-live]").count() == 1
    tree = page.locator("body").aria_snapshot()
    for line in (
        'heading "plants.csv"',
        'tab "Question" [selected]',
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
    assert page.get_attribute("#tab-rows", "aria-selected") == "true"
