"""Labels given in a real browser: by keys, in two tabs, taken back; typed text labels nothing."""

import json

from .acting import CLASSES, begin, key, labels, learned, open_row, places, press_truth, saved, wait


def test_cold_start_to_first_answer(page, studio):
    row = open_row(page)
    if page.locator("#first-class").is_visible():  # the session is new: the card requests the class of its row
        page.fill("#first-class", CLASSES[studio.y[row]])
        page.press("#first-class", "Enter")
        wait(page, f"store.given[{row}] === 0")
        assert page.evaluate("document.activeElement.id") == "first-class"  # the next row can be named at once
        assert page.get_attribute("#card", "data-via") != "random"
    begin(page, studio, least=6)
    learned(page)
    numbers = "[...document.querySelectorAll('.class-row .numbers span')].map(one => Number(one.textContent))"
    wait(page, f"{numbers}.reduce((a, b) => a + b) === {180 - len(labels(page))}")
    # The map has the color of its class in the middle of each label, but where another mark is above it.
    at, box = places(page), page.locator("#over").bounding_box()
    rows = [row for row, (id, _) in labels(page).items() if id != "cannot"]
    drawn = page.evaluate(
        "async rows => { const {colors, colorOf} = await import('/static/palette.js'), all = colors().classes;"
        " const pen = document.querySelector('#marks').getContext('2d');"
        " return rows.map(([row, x, y]) => { const [r, g, b] = pen.getImageData(x, y, 1, 1).data;"
        " return (0xff000000 | b << 16 | g << 8 | r) >>> 0 === all[colorOf(store.given[row])]; }); }",
        [[row, round(at[row][0] - box["x"]), round(at[row][1] - box["y"])] for row in rows],
    )
    assert sum(drawn) > len(rows) / 2


def test_keyboard_alone_labels_fifty_rows_in_order(tabs, studio):
    page = tabs.open()
    for name in CLASSES:  # by Tab to the button, never by mouse
        if not page.locator(f".class-row:has(.name:text-is('{name}'))").count():
            while page.evaluate("document.activeElement.id") != "add-class":
                page.keyboard.press("Tab")
            page.keyboard.press("Enter")
            page.keyboard.type(name)
            page.keyboard.press("Control+Enter")
            page.wait_for_selector(f".class-row:has(.name:text-is('{name}'))")
    while page.evaluate("['INPUT', 'BUTTON'].includes(document.activeElement.tagName)"):
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
    learned(page)
    for _ in range(40):
        row = open_row(page)
        if page.get_attribute("#card", "data-via") == "random":
            break
        page.keyboard.press(key(page, studio, row))
    page.wait_for_selector("#card .check-hint:not([hidden])")
    page.wait_for_timeout(300)
    assert page.locator("#card .choice.guess").count() == 0 and page.inner_text("#reasons") == ""
    assert "%" not in page.inner_text(".choices")
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
    page.evaluate("document.activeElement.blur()")
    page.click("#tab-next")
    page.keyboard.press("n")
    page.keyboard.type("1s2u3")
    page.keyboard.press("Escape")
    saved(page)
    assert labels(page) == before
    page.click("#tab-rows")
    wait(page, "document.querySelector('#selected-head h2').textContent.startsWith('60')")


def test_undo_and_redo_restore_the_answer(page, studio):
    begin(page, studio, least=6)
    first = learned(page)
    row = press_truth(page, studio)
    second = learned(page)
    assert second != first
    page.keyboard.press("u")
    assert learned(page) == first
    assert page.get_attribute("#card", "data-row") == str(row)  # back at the row, to label it again
    page.keyboard.press("Shift+U")
    assert learned(page) == second
    page.click("#tab-history")
    page.click("#history-list button:text-is('Undo') >> nth=0")
    assert learned(page) == first
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


def test_the_guess_is_on_its_button_and_enter_accepts_it(page, studio):
    begin(page, studio, least=8)
    learned(page)
    row = page.evaluate("store.given.findIndex((one, row) => one === -1 && !store.hiddenGuess.has(row))")
    page.evaluate("async row => (await import('/static/actions.js')).go(row)", row)
    page.wait_for_selector(".choice.guess .number:has-text('%')")
    wait(page, "document.querySelectorAll('#reasons .similar li').length === 2")
    guess = int(page.get_attribute(".choice.guess", "data-class"))
    assert guess == page.evaluate(f"store.first[{row}]")
    page.keyboard.press("Enter")
    wait(page, f"store.known[{row}] === {guess}")


def test_many_rows_at_once(page, studio):
    begin(page, studio, least=10)
    learned(page)
    before = labels(page)
    page.click(".class-row >> nth=0")
    wait(page, "document.querySelectorAll('#selected li').length > 3")
    shown = page.locator("#selected li").evaluate_all("all => all.map(one => Number(one.dataset.row))")
    certainty = page.evaluate("rows => rows.map(row => store.given[row] === -1 ? store.sure[row] : -1)", shown)
    assert certainty == sorted(certainty, reverse=True)
    page.click("#selected li:nth-child(1) input")
    page.click("#selected li:nth-child(3) input", modifiers=["Shift"])
    page.keyboard.press("2")  # the key of a class labels what is picked
    saved(page)
    after = labels(page)
    assert {row: after[row] for row in shown[:3]} == {row: (1, "list") for row in shown[:3]}
    page.keyboard.press("u")
    wait(page, f"store.known.filter(one => one !== -1).length === {len(before)}")
    page.click("#pick-shown")
    page.keyboard.press("1")
    saved(page)
    journal = [json.loads(line) for line in next(studio.folder.rglob("journal.jsonl")).read_text().splitlines()]
    assert journal[-1]["via"] == "list" and journal[-1]["unseen"] is True  # no one has looked at each of them
    assert len(journal[-1]["rows"]) > 3
    rows = journal[-1]["rows"]
    wait(page, f"store.known[{rows[0]}] === 0")  # this tab has heard of it
    page.keyboard.press("u")
    wait(page, f"store.known.filter(one => one !== -1).length === {len(before)}")
    page.evaluate("store.sure.fill(250)")
    page.evaluate("async () => (await import('/static/store.js')).tell('answers')")
    page.wait_for_selector("#accept-sure")
    page.click("#clear-filters")
    assert page.get_attribute("#tab-next", "aria-selected") == "true"


def test_picked_rows_stay_picked_when_predictions_arrive(page, studio):
    begin(page, studio, least=10)
    learned(page)
    page.click(".class-row >> nth=0")
    wait(page, "document.querySelectorAll('#selected li').length > 3")
    page.click("#selected li:nth-child(1) input")
    page.click("#selected li:nth-child(3) input", modifiers=["Shift"])
    picked = "() => [...document.querySelectorAll('#selected li.picked')].map(one => Number(one.dataset.row))"
    rows = page.evaluate(picked)
    assert len(rows) == 3
    shown = page.locator("#selected li").count()
    tell = "async () => (await import('/static/store.js')).tell('answers')"
    page.evaluate(tell)
    page.wait_for_timeout(300)
    assert page.evaluate(picked) == rows and page.locator("#selected li").count() == shown
    page.evaluate(f"store.first[{rows[0]}] = 255")  # it leaves the list, and is picked no longer
    page.evaluate(tell)
    wait(page, f"!document.querySelector('#selected li[data-row=\"{rows[0]}\"]')")
    assert sorted(page.evaluate(picked)) == sorted(rows[1:])
    page.keyboard.press("2")
    saved(page)
    assert {row: labels(page)[row] for row in rows[1:]} == {row: (1, "list") for row in rows[1:]}
    page.keyboard.press("u")
    saved(page)
    assert not {*rows} & {*labels(page)}
    page.click("#clear-filters")


def test_more_like_this_notes_guidelines_and_keys_of_letters(page, studio):
    begin(page, studio, least=10)
    learned(page)
    row = page.evaluate("store.given.findIndex((one, row) => one === -1 && !store.hiddenGuess.has(row))")
    page.evaluate("async row => (await import('/static/actions.js')).go(row)", row)
    wait(page, f"document.querySelector('#card').dataset.row === '{row}' && document.querySelector('#card .cells')")
    page.keyboard.press("t")
    page.keyboard.type("ask 1 person")
    page.keyboard.press("Enter")
    wait(page, "document.querySelector('#note').textContent === 'Note: ask 1 person'")
    assert row not in labels(page)  # what is typed labels nothing
    page.keyboard.press("u")
    wait(page, "document.querySelector('#note').textContent.startsWith('NoteT')")
    keys = "async () => [...(await import('/static/chips.js')).keys().values()]"
    before = page.evaluate(keys)
    note = {"op": "describe", "class": 0, "note": "Thorns.", "key": "a"}
    page.evaluate("async change => (await import('/static/actions.js')).changeClass(change)", note)
    assert page.evaluate(keys) == ["a", *before[1:]]
    page.evaluate("async row => (await import('/static/actions.js')).go(row)", row)
    page.hover(".choice[data-class='0']")
    assert page.inner_text(".guideline") == page.evaluate("store.classes[0].name") + ": Thorns."
    page.keyboard.press("g")
    wait(page, "document.querySelectorAll('#selected li').length === 40")
    listed = page.locator("#selected li").evaluate_all("all => all.map(one => Number(one.dataset.row))")
    assert row not in listed and sum(studio.y[one] == studio.y[row] for one in listed[:12]) >= 10
    page.click("#tab-next")
    page.evaluate("async row => (await import('/static/actions.js')).go(row)", row)
    page.keyboard.press("a")
    wait(page, f"store.known[{row}] === 0")


def test_rows_that_the_server_left_out_of_a_label_stay_without_one(page, studio):
    begin(page, studio, least=10)
    learned(page)
    for _ in range(40):  # a check that was answered, and whose label was taken back
        row = press_truth(page, studio)
        saved(page)
        if labels(page)[row][1] == "random":
            break
    page.keyboard.press("u")
    learned(page)
    before = labels(page)
    assert row not in before
    other = next(one for one in range(180) if one not in before and one != row)
    many = "async rows => (await import('/static/actions.js')).labelMany(rows, 0, true, [], 'list')"
    page.evaluate(many, [row, other])
    saved(page)
    known = "Object.fromEntries([...store.known.entries()].filter(([row, one]) => one !== -1))"
    shown = {int(one): label for one, label in page.evaluate(known).items()}
    assert shown == {one: -2 if label == "cannot" else label for one, (label, _) in labels(page).items()}
    assert row not in shown and shown[other] == 0
    page.keyboard.press("u")
    saved(page)
    assert {int(one) for one in page.evaluate(known)} == set(before)
