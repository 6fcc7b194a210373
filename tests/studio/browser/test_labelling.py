"""Labels given in a real browser: by keys, in two tabs, taken back; typed text labels nothing."""

import json

from .acting import CLASSES, begin, key, labels, learnt, open_row, places, press_truth, saved, wait


def test_cold_start_to_first_answer(page, studio):
    row = open_row(page)
    if page.locator("#first-class").count():  # the session is new: the card asks for the class of its row
        page.fill("#first-class", CLASSES[studio.y[row]])
        page.press("#first-class", "Enter")
        wait(page, f"store.given[{row}] === 0")
    begin(page, studio, least=6)
    learnt(page)
    numbers = "[...document.querySelectorAll('.class-row .numbers span')].map(one => Number(one.textContent))"
    wait(page, f"{numbers}.reduce((a, b) => a + b) === {180 - len(labels(page))}")
    # The map has the colour of its class in the middle of each label, but where another mark lies above it.
    at, box = places(page), page.locator("#over").bounding_box()
    rows = [row for row, (id, _) in labels(page).items() if id != "cannot"]
    drawn = page.evaluate(
        "async rows => { const {colours, colourOf} = await import('/static/palette.js'), all = colours().classes;"
        " const pen = document.querySelector('#marks').getContext('2d');"
        " return rows.map(([row, x, y]) => { const [r, g, b] = pen.getImageData(x, y, 1, 1).data;"
        " return (0xff000000 | b << 16 | g << 8 | r) >>> 0 === all[colourOf(store.given[row])]; }); }",
        [[row, round(at[row][0] - box["x"]), round(at[row][1] - box["y"])] for row in rows],
    )
    assert sum(drawn) > len(rows) / 2


def test_keyboard_alone_labels_fifty_rows_in_order(tabs, studio):
    page = tabs.open()
    for name in CLASSES:  # by Tab to the field, never by mouse
        if not page.locator(f".class-row:has(.name:text-is('{name}'))").count():
            while page.evaluate("document.activeElement.id") != "class-name":
                page.keyboard.press("Tab")
            page.keyboard.type(name)
            page.keyboard.press("Enter")
            page.wait_for_selector(f".class-row:has(.name:text-is('{name}'))")
    while page.evaluate("document.activeElement.tagName") == "INPUT":
        page.keyboard.press("Tab")
    before, asked = labels(page), []
    for _ in range(50):
        asked.append(press_truth(page, studio))
    saved(page)
    after = labels(page)
    names = page.evaluate("store.classes.map(one => one.name)")
    assert len(set(asked)) == 50
    assert all(names[after[row][0]] == CLASSES[studio.y[row]] for row in asked)
    assert set(after) == set(before) | set(asked)
    journal = [json.loads(line) for line in next(studio.folder.rglob("journal.jsonl")).read_text().splitlines()]
    assert [event["rows"][0] for event in journal if event["op"] == "label"][-50:] == asked
    assert sum(via == "random" for _, via in after.values()) >= 8  # a quarter of the questions


def test_random_checks_hide_the_guess(page, studio):
    begin(page, studio, least=8)
    learnt(page)
    for _ in range(40):
        row = open_row(page)
        if page.get_attribute("#card", "data-via") == "random":
            break
        page.keyboard.press(key(page, studio, row))
    page.wait_for_selector("#card .bars-box .hint")
    assert page.locator("#card .guess, #accept, #card .reason").count() == 0
    page.keyboard.press("Enter")  # there is no guess to accept
    saved(page)
    assert row not in labels(page)
    page.click("#cannot")
    saved(page)
    assert labels(page)[row] == ("cannot", "random")


def test_typing_labels_nothing(page, studio):
    begin(page, studio, least=2)
    before = labels(page)
    page.keyboard.press("f")
    page.keyboard.type("12 roses")
    wait(page, "document.querySelector('#found').textContent.startsWith('60')")
    page.keyboard.press("Enter")
    page.focus("#class-name")
    page.keyboard.type("1s2u3")
    saved(page)
    assert labels(page) == before
    wait(page, "document.querySelector('#selected-head h2').textContent.startsWith('60')")


def test_undo_and_redo_restore_the_answer(page, studio):
    begin(page, studio, least=6)
    first = learnt(page)
    row = press_truth(page, studio)
    second = learnt(page)
    assert second != first
    page.keyboard.press("u")
    assert learnt(page) == first
    assert page.get_attribute("#card", "data-row") == str(row)  # back at the row, to label it anew
    page.keyboard.press("Shift+U")
    assert learnt(page) == second
    page.click("#tab-history")
    page.click("#history-list button:text-is('Undo') >> nth=0")
    assert learnt(page) == first
    assert row not in labels(page)


def test_two_tabs_in_step(tabs, studio):
    one, other = tabs.open(), tabs.open()
    begin(one, studio, least=2)
    for writer, reader in ((one, other), (other, one)):
        row = press_truth(writer, studio)
        wait(reader, f"store.given[{row}] >= 0")
    one.close()  # the next tab takes over the connection
    third = tabs.open()
    row = press_truth(third, studio)
    wait(other, f"store.given[{row}] >= 0")
