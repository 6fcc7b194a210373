"""axe on every screen: no violation, not even a minor one."""

import pytest

from .acting import PATIENCE, begin, draw_around, learned, places, wait

DIALOGS = ("#names-dialog", "#name-dialog", "#export-dialog", "#help-dialog")
END = """async () => {
  store.accuracy = {random: {right: 60, checks: 60, waiting: 0, cannot: 0, value: 1, low: 0.91, high: 1},
    stop: {reached: true, more: 0, text: ""}};
  (await import('/static/store.js')).tell("measured");
}"""


@pytest.fixture
def page(studio, chromium):
    context = chromium.new_context(viewport={"width": 1440, "height": 900}, bypass_csp=True)
    context.set_default_timeout(PATIENCE)
    opened = context.new_page()
    opened.goto(studio.url)
    opened.wait_for_selector("html[data-ready]")
    opened.evaluate("async () => { window.store = (await import('/static/store.js')).store; }")
    yield opened
    context.close()


def test_axe_finds_nothing(studio, page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = []

    def look(screen):
        page.wait_for_timeout(300)
        violations = axe.Axe().run(page).response["violations"]
        found.extend((screen, one["impact"], one["id"], one["nodes"][0]["html"][:120]) for one in violations)

    look("first run")
    for dialog in DIALOGS:
        page.evaluate("name => document.querySelector(name).showModal()", dialog)
        look(dialog)
        page.evaluate("name => document.querySelector(name).close()", dialog)
    begin(page, studio, least=4)
    learned(page)
    for scheme, view in (
        *(("light", view) for view in ("review", "rows", "history", "accuracy", "next")),
        *(("dark", view) for view in ("accuracy", "next")),
    ):
        page.emulate_media(color_scheme=scheme)
        page.click("#tab-" + view)
        look(f"{view}, {scheme}")
    page.emulate_media(color_scheme="light")
    page.wait_for_selector("#plot-empty", state="hidden")
    page.keyboard.press("l")
    draw_around(page, places(page)[studio.y == 0])
    page.wait_for_selector("#sheet:not([hidden])")
    look("lasso sheet")
    page.keyboard.press("Escape")
    page.click("#tab-next")
    page.evaluate(END)
    wait(page, "!document.querySelector('#end').hidden")
    look("end card")
    page.set_viewport_size({"width": 390, "height": 844})
    for view in ("next", "accuracy"):
        page.click("#tab-" + view)
        look(f"{view}, phone")
    assert found == []
