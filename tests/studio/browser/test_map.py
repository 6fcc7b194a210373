"""The map in a real browser: rows are opened, gathered and drawn."""

import re

import numpy as np

from .acting import begin, draw_around, key, labels, learned, places, press_truth, saved, wait


def test_click_and_arrows(page, studio):
    begin(page, studio, least=4)
    learned(page)  # a new prediction may begin further random checks, which a click does not open
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
    hidden = page.evaluate("[...store.hiddenGuess]")
    assert n >= len([row for row in group if row not in known and row not in hidden]) > 12
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
    assert 0 in page.evaluate("[...store.selected.rows()]")
    page.wait_for_selector("#sheet:not([hidden])")
    page.keyboard.press("Escape")  # closes the sheet; the rows stay selected and are listed
    page.wait_for_selector("#selected li")


def test_given_labels_have_the_color_of_their_class_on_the_map(page, studio):
    begin(page, studio, least=6)
    learned(page)
    page.mouse.move(5, 5)
    page.wait_for_timeout(200)
    corner = page.locator("#over").bounding_box()
    at = {row: (places(page)[row] - [corner["x"], corner["y"]]).round().astype(int).tolist() for row in labels(page)}
    seen = page.evaluate(
        """async at => { const {colorOf, colors} = await import('/static/palette.js');
        const canvas = document.querySelector('#marks'), pen = canvas.getContext('2d');
        const shades = colors().classes, rgb = c => [c & 255, c >> 8 & 255, c >> 16 & 255];
        return Object.entries(at).map(([row, [x, y]]) =>
          [Array.from(pen.getImageData(x, y, 1, 1).data).slice(0, 3), rgb(shades[colorOf(store.given[row])])]); }""",
        at,
    )
    assert np.mean([np.abs(np.subtract(*pair)).max() <= 2 for pair in seen]) > 0.8  # others may are on each other


def test_rings_drawn_upon_the_map_are_those_of_a_whole_drawing(page, studio):
    begin(page, studio, least=4)
    learned(page)
    drawn = page.evaluate(
        "async () => { const {store, tell} = await import('/static/store.js'), all = document.querySelector('#marks');"
        " const seen = () => all.getContext('2d').getImageData(0, 0, all.width, all.height).data.join();"
        " const frame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)));"
        " tell('filter'); await frame(); const before = seen();"
        " for (let row = 0; row < store.n; row += 7) store.selected.add(row);"
        " tell('selection'); const upon = seen(); tell('filter');"
        " const whole = await new Promise(done => requestAnimationFrame(() => done(seen())));"
        " store.selected.clear(); tell('selection'); await frame();"
        " return [before !== upon, upon === whole, before === seen()]; }"
    )
    assert drawn == [True, True, True]


def test_a_lasso_holds_the_rows_inside_any_outline(page):
    wrong = page.evaluate(
        "async () => { const {Grid} = await import('/static/grid.js'), any = Math.random, wrong = [];"
        " const places = () => Uint16Array.from({length: 2000}, () => 65536 * any());"
        " for (let turn = 0; turn < 60; turn++) {"
        "   const x = places(), y = places(), edges = 3 + Math.floor(20 * any());"
        "   const at = Array.from({length: 2 * edges}, () => 90000 * any() - 12000), inside = [];"  # beyond the map too
        "   if (turn % 2) at.forEach((one, k) => { at[k] = 512 * Math.round(one / 512); });"  # borders of its cells
        "   for (let row = 0; row < x.length; row++) { let odd = false;"
        "     for (let k = 0, j = 2 * edges - 2; k < 2 * edges; j = k, k += 2)"
        "       if (at[k + 1] > y[row] !== at[j + 1] > y[row]"
        "         && x[row] < (at[j] - at[k]) * (y[row] - at[k + 1]) / (at[j + 1] - at[k + 1]) + at[k]) odd = !odd;"
        "     if (odd) inside.push(row); }"
        "   const found = Array.from(new Grid(x, y).polygon(at)).sort((a, b) => a - b);"
        "   if (found.join() !== inside.join()) wrong.push(at); } return wrong; }"
    )
    assert wrong == []


def test_regions_are_named_and_names_do_not_move(page, studio):
    begin(page, studio, least=8)
    learned(page)
    spans = "[...document.querySelectorAll('#regions span:not([hidden])')]"
    named = spans + ".map(one => [one.textContent, one.style.transform])"
    wait(page, f"{named}.length >= 3")
    before = page.evaluate(named)
    assert {name for name, _ in before} == {"rose", "tulip", "lily"}
    press_truth(page, studio)
    learned(page)
    assert len({place for _, place in page.evaluate(named)} & {place for _, place in before}) >= 3


def test_lines_of_density_are_drawn_where_marks_are_upon_each_other(page):
    found = page.evaluate(
        "async () => { const {contours} = await import('/static/density.js');"
        " const lines = n => { let drawn = 0; const at = Int32Array.from({length: n}, (_, k) => 50 + k % 3);"
        "   contours({width: 100, height: 100}, at, at, 8, () => drawn++); return drawn; };"
        " return [lines(2), lines(60) > 20]; }"
    )
    assert found == [0, True]
