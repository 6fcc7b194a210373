"""The studio in a real browser: playwright with the system's chromium."""

import csv
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
pytest.importorskip("starlette", reason="the studio needs starlette and uvicorn")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="the browser tests need chromium (apt install chromium)")

CLASSES = "rose", "tulip", "lily"
HOSTILE = "=cmd|' /C calc'!A0", "<img src=x onerror=alert(1)>", "<b>bold</b> & 12 roses"
PATIENCE = 60_000  # ms: other tests may run beside this one


class Server:
    """`mercer studio` on plants.csv of a folder; `url` is the address it printed."""

    def __init__(self, folder, y):
        self.folder, self.y = folder, y
        self.start()

    def start(self):
        command = ["studio", "plants.csv", "--target", "kind", "--id", "name", "--no-browser"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mercer", *command],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        lines = iter(self.process.stdout.readline, "")
        self.url = next((found.group() for line in lines if (found := re.search(r"http://\S+", line))), None)
        assert self.url, "the server ended before it printed its address"

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    """A server on a table of three groups of rows, without any label or class."""
    folder = tmp_path_factory.mktemp("studio")
    X, y = make_blobs(180, centers=[[0, 0, 0], [7, 1, 2], [1, 8, 3]], cluster_std=1.0, random_state=0)
    with open(folder / "plants.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["name", "height", "width", "weight", "note", "kind"])
        table.writerows([f"plant {i}", *(f"{v:.2f}" for v in x), HOSTILE[i % 3], ""] for i, x in enumerate(X))
    running = Server(folder, y)
    yield running
    running.end()


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def tabs(studio, chromium):
    """Opens tabs of one browser profile; at the end nothing must have run that was not ours."""
    context, seen = chromium.new_context(viewport={"width": 1440, "height": 900}), []
    context.set_default_timeout(PATIENCE)
    context.on(
        "request",
        lambda request: (
            seen.append(request.url)
            if "//127.0.0.1:" not in request.url and not request.url.startswith("blob:http://127.0.0.1:")
            else None
        ),
    )
    context.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
    context.on("weberror", lambda error: seen.append(str(error.error)))
    context.on("console", lambda message: seen.append(message.text) if message.type == "error" else None)

    def open_tab(drawn=True):
        tab = context.new_page()
        tab.goto(studio.url)
        tab.wait_for_selector("html[data-ready]")
        if drawn:
            tab.wait_for_selector("#plot-empty", state="hidden")
        tab.evaluate("async () => { window.store = (await import('/static/store.js')).store; }")
        return tab

    opened = SimpleNamespace(open=open_tab, context=context, lossy=False)
    yield opened
    context.close()
    assert [text for text in seen if not (opened.lossy and text.startswith("Failed to load resource"))] == []


@pytest.fixture
def page(tabs):
    return tabs.open()


def wait(page, expression):
    """Until the expression is true (playwright's own waiting evaluates strings, which the page's policy forbids)."""
    end = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(f"() => Boolean({expression})"):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(30)


def labels(page):
    """row → (class, via), as the server has them."""
    found = page.evaluate("async () => (await (await fetch('/api/labels?since=0')).json()).labels")
    return {one["row"]: (one["class"], one["via"]) for one in found}


def saved(page):
    wait(page, "store.waiting === 0")


def open_row(page):
    """The row on the card, once there is one that has no label."""
    wait(page, "store.current !== null && document.querySelector('#card').dataset.row === String(store.current.row)")
    return int(page.get_attribute("#card", "data-row"))


def learnt(page):
    """Waits for the full answer to the newest labels; returns its digest."""
    saved(page)
    newest = page.evaluate("async () => (await (await fetch('/api/labels?since=0')).json()).rev")
    wait(
        page,
        f"(at => at.tier === 'full' && Number(at.answerRev) >= {newest} && at.stage === 'idle')"
        "(document.documentElement.dataset)",
    )
    return page.get_attribute("html", "data-digest")


def key(page, studio, row):
    """The key of the true class of a row."""
    return page.inner_text(f".class-row:has(.name:text-is('{CLASSES[studio.y[row]]}')) kbd")


def press_truth(page, studio):
    row = open_row(page)
    page.keyboard.press(key(page, studio, row))
    return row


def begin(page, studio, least=0):
    """At least the three classes and so many labels, all true, given by keys."""
    for name in CLASSES:
        if not page.locator(f".class-row:has(.name:text-is('{name}'))").count():
            page.fill("#class-name", name)
            page.press("#class-name", "Enter")
            page.wait_for_selector(f".class-row:has(.name:text-is('{name}'))")
            page.evaluate("document.activeElement.blur()")
    for _ in range(least - len(labels(page))):
        press_truth(page, studio)
    saved(page)


def places(page):
    """Where the rows lie on the screen."""
    xy = np.array(page.evaluate("[Array.from(store.x), Array.from(store.y)]"), dtype=float).T
    box = page.locator("#over").bounding_box()
    size, corner = np.array([box["width"], box["height"]]), np.array([box["x"], box["y"]])
    return corner + size / 2 + (np.stack([xy[:, 0], 65535 - xy[:, 1]], axis=1) / 65535 - 0.5) * (size - 36)


def draw_around(page, points, margin=14):
    points = np.array(points)
    (left, top), (right, bottom) = points.min(axis=0) - margin, points.max(axis=0) + margin
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((right, top), (right, bottom), (left, bottom), (left, top + 4)):
        page.mouse.move(x, y, steps=5)
    page.mouse.up()


def test_cold_start_to_first_answer(page, studio):
    row = open_row(page)
    if page.locator("#first-class").count():  # the session is new: the card asks for the class of its row
        page.fill("#first-class", CLASSES[studio.y[row]])
        page.press("#first-class", "Enter")
        wait(page, f"store.given[{row}] === 0")
    begin(page, studio, least=6)
    learnt(page)
    counted = [int(text.replace("\u202f", "")) for text in page.locator(".class-row .numbers span").all_inner_texts()]
    assert sum(counted) == 180 - len(labels(page))
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


def test_click_and_arrows(page, studio):
    begin(page, studio, least=4)
    known = labels(page)
    hidden = page.evaluate("[...store.hiddenGuess]")
    at = places(page)
    apart = np.linalg.norm(at[:, None] - at, axis=2) + 1e6 * np.eye(180)
    row = max((row for row in range(180) if row not in known and row not in hidden), key=apart.min(axis=1).__getitem__)
    page.mouse.click(*at[row])
    page.wait_for_selector(f"#card[data-row='{row}'][data-via=click]")
    page.keyboard.press(key(page, studio, row))
    saved(page)
    assert labels(page)[row][1] == "click"
    page.mouse.click(*at[row])
    for arrow, axis, sign in (("Left", 0, -1), ("Right", 0, 1), ("Down", 1, 1), ("Up", 1, -1)):
        start = page.evaluate("store.current.row")
        page.keyboard.press("Arrow" + arrow)
        there = page.evaluate("store.current.row")
        assert sign * (at[there] - at[start])[axis] > 0 or there == start
    assert there != row


def test_lasso_labels_twelve_or_all(page, studio):
    begin(page, studio, least=4)
    known = labels(page)
    group = [
        row
        for row in range(180)
        if studio.y[row] == np.argmax(np.bincount(studio.y[[r for r in range(180) if r not in known]]))
    ]
    page.keyboard.press("l")
    draw_around(page, places(page)[group])
    page.wait_for_selector("#sheet:not([hidden])")
    n = int(re.match(r"\d+", page.inner_text("#sheet h2")).group())
    assert n >= len([row for row in group if row not in known]) > 12
    assert page.locator("#sheet .pick").count() == 12
    page.locator("#sheet .pick").first.click()  # this one does not belong
    page.keyboard.press(key(page, studio, group[0]))
    page.wait_for_selector("#sheet", state="hidden")
    saved(page)
    assert (
        sum(via == "lasso" for _, via in labels(page).values()) - sum(via == "lasso" for _, via in known.values()) == 11
    )
    page.keyboard.press("u")
    wait(page, f"store.known.filter(one => one !== -1).length === {len(known)}")
    draw_around(page, places(page)[group])
    page.click("#sheet button:has-text('Label all')")
    assert labels(page) == known  # it asks once
    page.click("#sheet .asking .primary")
    saved(page)
    assert len(labels(page)) == len(known) + n
    page.keyboard.press("u")
    wait(page, f"store.known.filter(one => one !== -1).length === {len(known)}")
    assert labels(page) == known


def test_brush_selects(page, studio):
    place = places(page)[0]
    page.click("[data-tool=brush]")
    page.mouse.move(*(place - 8))
    page.mouse.down()
    page.mouse.move(*place, steps=3)
    page.mouse.up()
    assert 0 in page.evaluate("[...store.selected]")
    page.wait_for_selector("#sheet:not([hidden])")
    page.keyboard.press("Escape")  # closes the sheet; the rows stay selected and are listed
    page.wait_for_selector("#selected tbody tr")


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


def test_labels_survive_a_lost_server_and_a_closed_tab(tabs, studio):
    page = tabs.open()
    begin(page, studio, least=4)
    before, tabs.lossy = labels(page), True
    tabs.context.set_offline(True)
    rows = [press_truth(page, studio), press_truth(page, studio)]
    page.wait_for_selector("#notice:has-text('2 changes are kept in this browser')")
    assert page.inner_text("#saved") == "2\u00a0changes kept here"
    page.close()
    tabs.context.set_offline(False)
    page = tabs.open()
    saved(page)
    after = labels(page)
    assert set(after) == set(before) | set(rows)
    revs = page.evaluate("async () => (await (await fetch('/api/history?limit=50')).json()).events.map(e => e.rows)")
    assert [row in revs[k] for k, row in enumerate(rows[::-1])] == [True, True]  # each once, in order
    assert page.locator("#notice").is_hidden()


def test_labels_survive_a_killed_server(tabs, studio):
    page = tabs.open()
    begin(page, studio, least=4)
    before, tabs.lossy = labels(page), True
    studio.process.kill()
    studio.process.wait(30)
    rows = [press_truth(page, studio), press_truth(page, studio)]
    page.wait_for_selector("#notice:has-text('2 changes are kept in this browser')")
    studio.start()
    page.wait_for_selector("#notice:has-text('Open the address')")  # the new server does not know this tab yet
    other = tabs.open()  # its address gives the browser the new cookie
    saved(page)
    saved(other)
    assert set(labels(other)) == set(before) | set(rows)
    other.wait_for_selector("#notice", state="hidden")
    page.wait_for_selector("#notice", state="hidden")


def test_a_full_disk_keeps_the_label_in_the_browser_until_it_is_written(tabs, studio):
    page = tabs.open()
    begin(page, studio, least=4)
    before, tabs.lossy = labels(page), True
    journal = studio.folder / "plants.csv.mercer" / "journal.jsonl"
    size, limits = journal.stat().st_size, resource.prlimit(studio.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(studio.process.pid, resource.RLIMIT_FSIZE, (size, limits[1]))
    rows = [press_truth(page, studio), press_truth(page, studio)]
    page.wait_for_selector("#notice:has-text('The label was not written')")
    page.wait_for_selector("#notice:has-text('2 changes are kept in this browser and sent again')")
    assert page.inner_text("#saved") == "2\u00a0changes kept here"
    assert labels(page) == before and journal.stat().st_size == size
    resource.prlimit(studio.process.pid, resource.RLIMIT_FSIZE, limits)
    saved(page)
    assert set(labels(page)) == set(before) | set(rows)
    page.wait_for_selector("#notice", state="hidden")
    wait(page, "document.querySelector('#saved').textContent.startsWith('saved')")


def test_a_torn_line_is_cut_and_a_damaged_one_stops_the_session(tabs, studio):
    page = tabs.open()
    begin(page, studio, least=4)
    before = labels(page)
    page.close()
    journal = studio.folder / "plants.csv.mercer" / "journal.jsonl"
    studio.end()
    whole = journal.read_bytes()
    number = whole.count(b"\n")
    journal.write_bytes(whole + whole.splitlines()[-1][:40])
    studio.start()
    page = tabs.open()
    page.wait_for_selector(f"#notice:has-text('the {number} events before it are kept')")
    page.click("#notice button")
    assert page.locator("#notice").is_hidden() and labels(page) == before
    page.close()
    studio.end()
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[-2] = lines[-2].replace(b'"rows":[', b'"rows":[1')
    journal.write_bytes(b"".join(lines))
    studio.start()
    page, tabs.lossy = tabs.open(drawn=False), True
    page.wait_for_selector(f"#notice:has-text('The {number - 2} events before it are shown')")
    assert "nothing is learnt" in page.inner_text("#plot-empty") and page.inner_text("#stage-text") == "stopped"
    kept = labels(page)
    assert set(kept) < set(before)
    refused = "async () => (await (await import('/static/api.js')).post('/api/undo', {}).catch(e => e)).status"
    assert page.evaluate(refused) == 409 and labels(page) == kept
    page.close()
    studio.end()
    assert journal.read_bytes() == b"".join(lines)
    journal.write_bytes(whole)
    studio.start()
    page = tabs.open()
    assert labels(page) == before and page.locator("#notice").is_hidden()


def test_a_changed_table_stops_learning_and_names_the_rows_that_are_gone(tabs, studio):
    page = tabs.open()
    begin(page, studio, least=4)
    before, tabs.lossy = labels(page), True
    table, gone = studio.folder / "plants.csv", next(iter(before))
    whole = table.read_text()
    table.write_text("".join(line for line in whole.splitlines(keepends=True) if not line.startswith(f"plant {gone},")))
    page.wait_for_selector(f"#notice:has-text('Not found again: plant {gone}.')")
    assert f"{len(before) - 1} of {len(before)} labelled rows are in the new file" in page.inner_text("#notice")
    assert page.inner_text("#stage-text") == "stopped" and labels(page) == before
    page.close()
    studio.end()
    table.write_text(whole)
    studio.start()
    page = tabs.open()
    assert labels(page) == before and page.locator("#notice").is_hidden()


def test_given_labels_have_the_colour_of_their_class_on_the_map(page, studio):
    begin(page, studio, least=6)
    learnt(page)
    page.mouse.move(5, 5)
    page.wait_for_timeout(200)
    corner = page.locator("#over").bounding_box()
    at = {row: (places(page)[row] - [corner["x"], corner["y"]]).round().astype(int).tolist() for row in labels(page)}
    seen = page.evaluate(
        """async at => { const {colourOf, colours} = await import('/static/palette.js');
        const canvas = document.querySelector('#marks'), pen = canvas.getContext('2d');
        const shades = colours().classes, rgb = c => [c & 255, c >> 8 & 255, c >> 16 & 255];
        return Object.entries(at).map(([row, [x, y]]) =>
          [Array.from(pen.getImageData(x, y, 1, 1).data).slice(0, 3), rgb(shades[colourOf(store.given[row])])]); }""",
        at,
    )
    assert np.mean([np.abs(np.subtract(*pair)).max() <= 2 for pair in seen]) > 0.8  # others may lie upon each other


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
    begin(page, studio, least=24)
    learnt(page)
    row, truth = next(
        (row, id) for row, (id, via) in labels(page).items() if id != "cannot" and studio.y[row] == 0 and via != "lasso"
    )
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
