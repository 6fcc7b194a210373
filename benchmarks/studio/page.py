"""How the page of `mercer studio` feels in a browser: frames while the map is moved, echo of keys, lasso, long tasks.

    python -m benchmarks.studio.page [--rows 100000] [--labels 10] [--chromium PATH] [--quick]

A server is started on n handwritten digits and opened in chromium without a window (software rendering, 1440 × 900).
The map is dragged and zoomed for two seconds each, rows are labelled by keys as the queue asks, each when the exact
answer to the one before is drawn, and one lasso is drawn around the middle of what is seen. Long tasks are those
that the browser reports (50 ms or more) after the map was drawn. Needs playwright and chromium. Writes
benchmarks/results/studio_page.md.
"""

import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.harness import arguments, machine, markdown, publish
from benchmarks.studio.server import Server, digits_table

WATCH = """
window.tasks = []; window.frames = []; window.echoes = [];
new PerformanceObserver(list => { for (const one of list.getEntries()) tasks.push([one.startTime, one.duration]); })
  .observe({type: "longtask", buffered: true});
let last = 0;
(function tick(now) { frames.push([now, now - last]); last = now; requestAnimationFrame(tick); })(0);
window.after = tell => {  // milliseconds until the next frame is painted
  const since = performance.now(), painted = new MessageChannel();
  painted.port1.onmessage = () => tell(performance.now() - since);
  requestAnimationFrame(() => painted.port2.postMessage(0));
};
addEventListener("keydown", () => after(ms => echoes.push(ms)), true);
"""
ASKED = {"echo of a key": 0.016, "end of the lasso to its rows marked": 0.05, "longest task after the start": 0.2}


def wait(page, expression, seconds=300):
    """Until an expression of the page is true."""
    end = time.monotonic() + seconds
    while not page.evaluate(f"() => Boolean({expression})"):
        if time.monotonic() > end:
            raise SystemExit(f"not within {seconds} s: {expression}")
        page.wait_for_timeout(30)


def moved(page, act, seconds=2.0):
    """Times between two frames while a person moves the map."""
    begun = page.evaluate("performance.now()")
    end = time.monotonic() + seconds
    turn = 0
    while time.monotonic() < end:
        act(turn)
        turn += 1
    frames = np.array(page.evaluate("frames"))
    return frames[frames[:, 0] > begun, 1] / 1000


def measure(n, n_labels, chromium):
    """[(what, seconds, how many)], and the long tasks after the start."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as p:
        path, t = digits_table(Path(folder), n)
        server = Server(path)
        server.classes("0123456789")
        while server.get("session")["stage"]["name"] != "idle":
            time.sleep(0.5)
        browser = p.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(WATCH)
        begun = time.perf_counter()
        page.goto(f"{server.base}/?token={server.token}")
        page.wait_for_selector("html[data-ready]")
        page.wait_for_selector("#plot-empty", state="hidden")
        found = {"opening the page to the map": [time.perf_counter() - begun]}
        page.evaluate("async () => { window.store = (await import('/static/store.js')).store; }")
        page.wait_for_timeout(500)
        start = page.evaluate("performance.now()")
        box = page.locator("#over").bounding_box()
        middle = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])

        page.mouse.move(*middle)
        page.mouse.down()
        found["frame while the map is dragged"] = moved(
            page, lambda i: page.mouse.move(*(middle + 120 * np.array([np.cos(i / 9), np.sin(i / 9)])))
        )
        page.mouse.up()
        found["frame while it is zoomed"] = moved(page, lambda i: page.mouse.wheel(0, -120 if i % 20 < 10 else 120))
        page.keyboard.press("Escape")
        wait(page, "store.queue.items.length")
        page.evaluate("echoes.length = 0")
        frames = []
        for _ in range(n_labels):
            wait(page, "store.current && document.querySelector('#card').dataset.row === String(store.current.row)")
            row = page.evaluate("store.current.row")
            name = page.inner_text(f".class-row:has(.name:text-is('{t[row]}')) kbd")
            since = page.evaluate("performance.now()")
            page.keyboard.press(name)
            wait(page, f"store.given[{row}] === {t[row]} && store.waiting === 0")
            rev = server.get("session")["rev"]
            if len({one["class"] for one in server.get("labels")["labels"]}) > 1:
                wait(
                    page,
                    f"(at => at.tier === 'full' && Number(at.answerRev) >= {rev})(document.documentElement.dataset)",
                )
                page.wait_for_timeout(100)
            frames += [length / 1000 for when, length in page.evaluate("frames") if when > since]
        found["echo of a key"] = np.array(page.evaluate("echoes")) / 1000
        found["frame while answers arrive"] = np.array(frames)

        page.keyboard.press("l")
        corners = middle + 0.3 * np.array([box["width"], box["height"]]) * [[-1, -1], [1, -1], [1, 1], [-1, 1]]
        page.mouse.move(*corners[0])
        page.mouse.down()
        for corner in [*corners[1:], corners[0] + [0, 6]]:
            page.mouse.move(*corner, steps=25)
        page.evaluate(
            "() => addEventListener('pointerup', () => after(ms => { window.lasso = ms }), {capture: true, once: true})"
        )
        page.mouse.up()
        wait(page, "store.selected.size")
        wait(page, "window.lasso")
        chosen = page.evaluate("store.selected.size")
        found["end of the lasso to its rows marked"] = [page.evaluate("lasso") / 1000]
        page.wait_for_timeout(300)
        tasks = [length / 1000 for when, length in page.evaluate("tasks") if when > start]
        found["longest task after the start"] = [max(tasks, default=0.0)]
        browser.close()
        server.stop()
    return found, sum(length > 0.2 for length in tasks), len(tasks), chosen


def main():
    options = arguments(
        __doc__,
        rows={"type": int, "default": 100_000, "help": "number of rows (default %(default)s)"},
        labels={"type": int, "default": 10, "help": "rows labelled by keys (default %(default)s)"},
        chromium={"default": shutil.which("chromium") or shutil.which("google-chrome"), "help": "the browser"},
    )
    n = 2000 if options.quick else options.rows
    found, blocked, long, chosen = measure(n, 4 if options.quick else options.labels, options.chromium)
    lines = []
    for what, values in found.items():
        values = np.asarray(values)
        asked = ASKED.get(what)
        p95 = float(np.quantile(values, 0.95))
        met = "" if asked is None else "yes" if p95 <= asked else "no"
        figures = {"median (s)": f"{np.median(values):.3f}", "p95 (s)": f"{p95:.3f}", "most (s)": f"{values.max():.3f}"}
        lines.append({"what": what, "number": len(values)} | figures | {"asked": asked or "", "met": met})
    text = f"{n} rows; the lasso held {chosen}. {long} tasks of 50 ms or more after the start, {blocked} above 200 ms."
    page = f"# The page of `mercer studio` in a browser\n\n{machine()}\n\n{markdown(lines)}\n\n{text}\n"
    publish("studio_page", page, options.quick)


if __name__ == "__main__":
    main()
