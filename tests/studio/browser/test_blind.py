"""Random checks are answered blind; labels outlive their tab and a server that hangs; the card names any class."""

import signal
import time

from .acting import CLASSES, begin, key, labels, learned, open_row, press_truth, read, saved, wait

RINGS = """() => { const canvas = document.querySelector('#over');
    return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(one => one > 0); }"""


def to_a_check(page, studio):
    """Label until the open row is a random check."""
    for _ in range(40):
        row = open_row(page)
        if page.get_attribute("#card", "data-via") == "random":
            return row
        page.keyboard.press(key(page, studio, row))
    raise AssertionError("no random check")


def test_names_on_the_card_label_whether_new_or_known(page, studio):
    for name in ("rose", "rose", "tulip", "lily"):  # the second time it is known, the third class is named there too
        row = open_row(page)
        if not page.locator("#first-class").is_visible():
            page.keyboard.press("n")
        page.fill("#first-class", name)
        page.press("#first-class", "Enter")
        wait(page, f"store.given[{row}] >= 0 && store.classes[store.given[{row}]].name === '{name}'")
    assert page.evaluate("store.classes.map(one => one.name)") == list(CLASSES)
    assert page.locator("#notice").is_hidden() and page.evaluate("document.activeElement.tagName") != "INPUT"


def test_the_map_does_not_tell_where_a_check_is(page, studio):
    begin(page, studio, least=8)
    learned(page)
    page.mouse.move(2, 2)
    row = open_row(page)
    if page.get_attribute("#card", "data-via") != "random":
        page.wait_for_timeout(200)
        assert page.evaluate(RINGS)  # the open row is ringed
    row = to_a_check(page, studio)
    page.wait_for_timeout(200)
    assert not page.evaluate(RINGS)
    x, y = page.evaluate(f"[store.x[{row}], store.y[{row}]]")
    box = page.locator("#over").bounding_box()
    place = [box["x"] + 18 + x / 65535 * (box["width"] - 36), box["y"] + 18 + (1 - y / 65535) * (box["height"] - 36)]
    page.mouse.click(*place)
    wait(page, f"!store.current || store.current.row !== {row} || store.current.via === 'random'")
    assert page.evaluate(f"store.current.row !== {row} || store.current.via === 'random'")
    wait(page, f"store.hiddenGuess.has({row})")


def test_a_skipped_check_is_said_and_comes_back(page, studio):
    begin(page, studio, least=8)
    learned(page)
    row = to_a_check(page, studio)
    page.keyboard.press("s")
    saved(page)
    wait(page, f"store.current && store.current.row !== {row}")
    assert read(page, "/api/queue")["checks"].count(row) == 1
    page.keyboard.press("u")
    wait(page, f"store.current.row === {row} && store.current.via === 'random'")
    page.keyboard.press("s")
    for _ in range(12):
        press_truth(page, studio)
    learned(page)
    wait(page, f"store.queue.items.some(item => item.row === {row}) || {int(row in labels(page))}")
    page.click("#tab-accuracy")
    wait(page, "document.querySelector('#accuracy').textContent.includes('1 skipped')")


def test_a_label_outlives_a_tab_that_is_closed_at_once(tabs, studio):
    page = tabs.open()
    begin(page, studio, least=4)
    for _ in range(3):
        row = open_row(page)
        page.keyboard.press(key(page, studio, row))
        page.close()
        page = tabs.open()
        wait(page, f"store.known[{row}] >= 0")


def test_a_server_that_hangs_is_said_and_the_label_is_kept(tabs, studio):
    page = tabs.open()
    begin(page, studio, least=4)
    tabs.lossy = True
    studio.process.send_signal(signal.SIGSTOP)
    try:
        begun = time.monotonic()
        row = press_truth(page, studio)
        page.wait_for_selector("#notice:has-text('The server does not respond')", timeout=20_000)
        assert time.monotonic() - begun < 20 and "kept in this browser" in page.inner_text("#saved")
    finally:
        studio.process.send_signal(signal.SIGCONT)
    saved(page)
    assert row in labels(page)
    page.wait_for_selector("#notice", state="hidden")
