"""How the page of `mercer studio` feels in a browser: frames while the map is moved, echo of keys, lasso, long tasks.

    python -m benchmarks.studio.page [--rows 100000] [--labels 20] [--chromium PATH] [--quick]

A server is started on n handwritten digits and opened in chromium without a window (software rendering, 1440 × 900).
The map is dragged and zoomed for two seconds each, rows are labeled by keys as the queue asks, each when the exact
answer to the one before is drawn, and ten times a lasso is drawn around the middle of what is seen. Times are counted
from the time stamp of the input to the end of the frame that shows its effect. Where a task of the page ends, and the
processor time it took, is read from the browser's own trace: a script is told late, as the browser holds back scripts
after an input until the frame is on the screen. Long tasks are those that the browser reports (50 ms or more) after the
map was drawn. Needs playwright and chromium. Writes benchmarks/results/studio_page.md.
"""

import json
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
let followed = 0;
window.follow = (event, shown, tell) => {  // marks the tasks of an input: its handler, the frames until it is shown
  const number = followed++, since = event.timeStamp, marked = performance.mark("input " + number).startTime - since;
  let frames = 0;
  (function next() {
    requestAnimationFrame(() => {
      const start = performance.mark("frame " + number).startTime;
      frames++;
      scheduler.postTask(() => {
        if (shown()) tell({number, marked, frames, frame: start - since});
        else next();
      }, {priority: "user-blocking"});
    });
  })();
};
addEventListener("keydown", event => {
  const card = document.querySelector("#card"), before = card.dataset.row;
  if (/^\\d$/.test(event.key)) follow(event, () => card.dataset.row !== before, one => echoes.push(one));
}, true);
"""
LASSO = """() => {
  window.lasso = null;
  const up = event => follow(event, () => store.selected.size, one => { window.lasso = one; });
  addEventListener("pointerup", up, {capture: true, once: true});
}"""
LASSOS = 10
ECHO = {
    "work": "echo of a key: work of the page",
    "processor": "the same, processor time",
    "frame": "key to the beginning of the frame that shows it",
    "painted": "key to the end of that frame",
}
LASSO_TIMES = {
    "painted": "end of the lasso to its rows marked",
    "processor": "processor time of it",
}
TARGETS = {
    ECHO["work"]: 0.016,
    ECHO["processor"]: 0.016,
    LASSO_TIMES["painted"]: 0.05,
    "longest task after the start": 0.2,
}


def wait(page, expression, seconds=300):
    """Until an expression of the page is true."""
    end = time.monotonic() + seconds
    while not page.evaluate(f"() => Boolean({expression})"):
        if time.monotonic() > end:
            raise SystemExit(f"not within {seconds} s: {expression}")
        page.wait_for_timeout(30)


def timed(inputs, trace):
    """The inputs with the lengths of their tasks, from the browser's trace.

    Added are, in milliseconds: work (length of the task of the handler and of those of the frames), processor (its part
    on a processor) and painted (from the time stamp of the input to the end of the last frame).
    """
    events = json.loads(trace)["traceEvents"]
    marks = [(one["name"], one) for one in events if "blink.user_timing" in one["cat"]]
    threads = {(one["pid"], one["tid"]) for name, one in marks if name.startswith("input ")}
    tasks = [one for one in events if one["name"].endswith("::RunTask") and (one["pid"], one["tid"]) in threads]

    def around(mark):
        return next(one for one in tasks if 0 <= mark["ts"] - one["ts"] <= one["dur"])

    for one in inputs:
        begun = next(mark for name, mark in marks if name == f"input {one['number']}")
        ran = [around(mark) for name, mark in marks if name == f"frame {one['number']}"]
        one["painted"] = one["marked"] + (ran[-1]["ts"] + ran[-1]["dur"] - begun["ts"]) / 1000
        ran.append(around(begun))
        one["work"], one["processor"] = (sum(task[name] for task in ran) / 1000 for name in ("dur", "tdur"))


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
    """({what: seconds}, keys not shown in the next frame, long tasks after the start, rows in the lasso)."""
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
        browser.start_tracing(page=page, categories=["toplevel", "blink.user_timing"])
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
        keys = page.evaluate("echoes")

        page.click("[data-zoom=fit]")
        corners = middle + 0.3 * np.array([box["width"], box["height"]]) * [[-1, -1], [1, -1], [1, 1], [-1, 1]]
        lassos = []
        for _ in range(LASSOS):
            page.keyboard.press("l")
            page.mouse.move(*corners[0])
            page.mouse.down()
            for corner in [*corners[1:], corners[0] + [0, 6]]:
                page.mouse.move(*corner, steps=25)
            page.evaluate(LASSO)
            page.mouse.up()
            wait(page, "window.lasso")
            lassos.append(page.evaluate("lasso"))
            chosen = page.evaluate("store.selected.size")
            page.wait_for_selector("#sheet", state="visible")
            page.wait_for_timeout(300)
            for _ in range(2):  # closes the sheet, clears the selection
                page.keyboard.press("Escape")
        page.wait_for_timeout(300)
        timed(keys + lassos, browser.stop_tracing())
        for name, what in ECHO.items():
            found[what] = np.array([one[name] for one in keys]) / 1000
        found["frame while predictions arrive"] = np.array(frames)
        for name, what in LASSO_TIMES.items():
            found[what] = np.array([one[name] for one in lassos]) / 1000
        late = sum(one["frames"] > 1 for one in keys)
        tasks = [length / 1000 for when, length in page.evaluate("tasks") if when > start]
        found["longest task after the start"] = [max(tasks, default=0.0)]
        browser.close()
        server.stop()
    return found, late, tasks, chosen


def main():
    options = arguments(
        __doc__,
        rows={"type": int, "default": 100_000, "help": "number of rows (default %(default)s)"},
        labels={"type": int, "default": 20, "help": "rows labeled by keys (default %(default)s)"},
        chromium={"default": shutil.which("chromium") or shutil.which("google-chrome"), "help": "the browser"},
    )
    n = 2000 if options.quick else options.rows
    found, late, tasks, chosen = measure(n, 4 if options.quick else options.labels, options.chromium)
    lines = []
    for what, values in found.items():
        values = np.asarray(values)
        p95 = float(np.quantile(values, 0.95))
        figures = {"median (s)": f"{np.median(values):.3f}", "p95 (s)": f"{p95:.3f}", "most (s)": f"{values.max():.3f}"}
        lines.append({"what": what, "number": len(values)} | figures | {"target": TARGETS.get(what, "")})
    blocked, keys = sum(length > 0.2 for length in tasks), len(found[ECHO["work"]])
    text = (
        f"{n:,} rows. The lasso contained {chosen:,}. {keys - late} of {keys} keys are shown in the next frame. The "
        "page's work is the task of the key's handler and the task of the frame, from the browser's trace. It includes "
        "the time in which other processes (learning, drawing by software) use the processor. The processor time does "
        "not. The display shows 60 frames per second, so a key always waits up to 17 ms. "
        f"After the start there are {len(tasks)} tasks of 50 ms or more, {blocked} of them above 200 ms."
    )
    page = f"# The page of `mercer studio` in a browser\n\n{machine()}\n\n{markdown(lines)}\n\n{text}\n"
    publish("studio_page", page, options.quick)


if __name__ == "__main__":
    main()
