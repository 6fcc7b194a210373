"""What a person does and sees on the page, for the tests of it."""

import time

import numpy as np

CLASSES = "rose", "tulip", "lily"
PATIENCE = 60_000  # ms: other tests may run next to this one


def wait(page, expression):
    """Until the expression is true (playwright's own waiting evaluates strings, which the page's policy forbids)."""
    end = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(f"() => Boolean({expression})"):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(30)


def read(page, path):
    """What the server answers to the page."""
    return page.evaluate("async path => (await import('/static/api.js')).json(path)", path)


def labels(page):
    """row → (class, via), as the server has them."""
    found = read(page, "/api/labels?since=0")["labels"]
    return {one["row"]: (one["class"], one["via"]) for one in found}


def saved(page):
    wait(page, "store.waiting === 0")


def open_row(page):
    """The row on the card, once there is one that has no label."""
    wait(page, "store.current !== null && document.querySelector('#card').dataset.row === String(store.current.row)")
    return int(page.get_attribute("#card", "data-row"))


def learned(page):
    """Waits for the full answer to the newest labels; returns its digest."""
    saved(page)
    newest = read(page, "/api/labels?since=0")["rev"]
    wait(
        page,
        f"(at => at.tier === 'full' && Number(at.answerRev) >= {newest} && at.stage === 'idle')"
        "(document.documentElement.dataset)",
    )
    return page.get_attribute("html", "data-digest")


def key(page, studio, row):
    """The key of the true class of a row."""
    return page.inner_text(f".class-row:has(.name:text-is('{CLASSES[studio.y[row]]}')) kbd")


def add_classes(page, names):
    """By the dialog, all at once."""
    page.click("#add-class")
    page.fill("#names", "\n".join(names))
    page.click("#names-add")
    for name in names:
        page.wait_for_selector(f".class-row:has(.name:text-is('{name}'))")
    page.evaluate("document.activeElement.blur()")


def press_truth(page, studio):
    row = open_row(page)
    page.keyboard.press(key(page, studio, row))
    return row


def begin(page, studio, least=0):
    """At least the three classes and so many labels, all true, given by keys."""
    missing = [name for name in CLASSES if not page.locator(f".class-row:has(.name:text-is('{name}'))").count()]
    if missing:
        add_classes(page, missing)
    for _ in range(least - len(labels(page))):
        press_truth(page, studio)
    saved(page)


def places(page):
    """Where the rows are on the screen."""
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
