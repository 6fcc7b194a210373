"""How long a person waits: from the start to the map and to ready, and from a label to its predictions.

    python -m benchmarks.studio.latency [--rows 1500 20000 100000] [--labels 40] [--quick]

A server is started on n handwritten digits (noisy copies beyond 1,797). Rows are labeled one after the other as the
queue asks, each when the queue for the previous one is there. Times are those a browser would see, from sending the
label to the event; p95 over the labels, with targets. Writes benchmarks/results/studio_latency.{csv,md}.
"""

import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from benchmarks.harness import arguments, machine, markdown, publish, write_csv
from benchmarks.studio.server import Server, digits_table

TARGETS = {  # seconds, up to 20,000 rows and at 100,000
    "map": (1.5, 6.0),
    "ready": (10.0, 25.0),
    "durable": (0.05, 0.05),
    "fast": (0.4, 1.5),
    "full": (1.2, 1.5),
    "queue": (2.0, 2.0),
}
WORDS = {
    "map": "table read to the map",
    "ready": "start to ready for labels",
    "durable": "label to the disk",
    "fast": "label to the fast prediction",
    "full": "label to the exact prediction",
    "queue": "label to the next questions",
}


def measure(n, n_labels):
    """{what: seconds, p95 for what is done many times}."""
    with tempfile.TemporaryDirectory() as folder:
        path, t = digits_table(Path(folder), n)
        server = Server(path)
        seen: dict = {}
        arrived = threading.Condition()

        def listen():
            for when, name, content in server.events():
                with arrived:
                    tier = content.get("tier", "")
                    key = (f"{name} {tier}".strip(), content.get("rev"))
                    seen.setdefault(key, when)
                    if name == "stage":
                        seen.setdefault((content["name"], None), when)
                    arrived.notify_all()

        threading.Thread(target=listen, daemon=True).start()

        def wait(*keys):
            with arrived:
                arrived.wait_for(lambda: all(key in seen for key in keys), timeout=600)
                return [seen[key] for key in keys]

        ready, read, placed = wait(("idle", None), ("preparing", None), ("map", None))
        server.classes("0123456789")
        times: dict = {name: [] for name in ("durable", "fast", "full", "queue")}
        for turn in range(n_labels):
            item = next(iter(server.get("queue")["items"]), {"row": turn, "via": "click"})
            begun = time.perf_counter()
            rev = server.label(item["row"], t[item["row"]], item["via"])
            times["durable"].append(time.perf_counter() - begun)
            if len({int(t[one["row"]]) for one in server.get("labels")["labels"]}) < 2:
                wait(("queue", rev))
                continue
            fast, queue, full = wait(("answer fast", rev), ("queue", rev), ("answer full", rev))
            for name, when in (("fast", fast), ("queue", queue), ("full", full)):
                times[name].append(when - begun)
        server.stop()
    found = {"map": placed - read, "ready": ready - server.begun}
    return found | {name: float(np.quantile(values, 0.95)) for name, values in times.items()}


def main():
    options = arguments(
        __doc__,
        rows={"nargs": "*", "type": int, "default": [1500, 20_000, 100_000], "help": "numbers of rows"},
        labels={"type": int, "default": 40, "help": "labels per table (default %(default)s)"},
    )
    sizes = [600] if options.quick else options.rows
    rows, lines = [], []
    for n in sizes:
        found = measure(n, 12 if options.quick else options.labels)
        rows += [{"rows": n, "what": name, "seconds": round(value, 4)} for name, value in found.items()]
        for name, value in found.items():
            target = f"{TARGETS[name][n > 20_000]:g}"
            lines.append({"rows": f"{n:,}", "what": WORDS[name], "seconds": f"{value:.3f}", "target": target})
        print(markdown(lines[-len(found) :]), flush=True)
    if not options.quick:
        write_csv("studio_latency", rows)
    publish(
        "studio_latency", f"# Waiting times of `mercer studio`\n\n{machine()}\n\n{markdown(lines)}\n", options.quick
    )


if __name__ == "__main__":
    main()
