"""What is lost: labels when the server is killed, events when fifty tabs listen.

    python -m benchmarks.studio.durability [--kills 20] [--listeners 50] [--seconds 30] [--quick]

Kills: labels are sent as fast as the server takes them; it is killed with SIGKILL at a random moment, started again;
then every acknowledged label must be there, with its value. Listeners: so many streams of events while labels come
at five a second; each must get all of them, in the order of their revisions. Writes
benchmarks/results/studio_durability.md.
"""

import tempfile
import threading
import time
from pathlib import Path

import httpx
import numpy as np

from benchmarks.harness import arguments, machine, markdown, publish
from benchmarks.studio.server import Server, digits_table

RATE = 5.0  # labels a second


def kills(number, seed=0):
    """Acknowledged, lost and wrong labels over so many kills."""
    rng = np.random.default_rng(seed)
    acknowledged = lost = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path, t = digits_table(Path(folder), 600)
        known: dict = {}
        for turn in range(number + 1):
            server = Server(path)
            server.classes("0123456789")
            found = {one["row"]: one["class"] for one in server.get("labels")["labels"]}
            lost += sum(row not in found for row in known)
            wrong += sum(row in found and found[row] != value for row, value in known.items())
            if turn == number:
                server.stop()
                break
            known, under_way = found, None
            timer = threading.Timer(float(rng.uniform(0.05, 3.0)), server.kill)
            timer.start()
            try:
                while True:
                    under_way = int(rng.integers(len(t))), int(rng.integers(10))
                    server.label(*under_way)
                    known[under_way[0]] = under_way[1]
                    acknowledged += 1
            except httpx.TransportError:
                timer.join()
                if under_way[0] in known:
                    known.pop(under_way[0])  # it may have the label that was not acknowledged, or the one before
    return {"kills": number, "acknowledged": acknowledged, "lost": lost, "wrong": wrong}


def listeners(number, seconds):
    """Events that listeners missed or got in another order."""
    with tempfile.TemporaryDirectory() as folder:
        path, t = digits_table(Path(folder), 600)
        server = Server(path)
        server.classes("0123456789")
        heard: list = [[] for _ in range(number)]
        ready = threading.Barrier(number + 1)
        last: list = []

        def listen(place):
            for when, name, content in server.events():
                if name == "hello":
                    ready.wait()
                elif name == "label":
                    heard[place].append((content["rev"], when))
                    if last and content["rev"] >= last[0]:
                        return

        threads = [threading.Thread(target=listen, args=(place,), daemon=True) for place in range(number)]
        for thread in threads:
            thread.start()
        ready.wait()
        sent, begun = {}, time.perf_counter()
        for turn in range(int(RATE * seconds)):
            time.sleep(max(begun + turn / RATE - time.perf_counter(), 0))
            if turn + 1 == int(RATE * seconds):
                last.append(server.get("session")["rev"] + 1)
            when = time.perf_counter()
            sent[server.label(turn % len(t), int(t[turn % len(t)]))] = when
        for thread in threads:
            thread.join(30)
        server.stop()
    revs = list(sent)
    delays = [when - sent[rev] for one in heard for rev, when in one]
    return {
        "listeners": number,
        "labels": len(revs),
        "events": sum(map(len, heard)),
        "missed": sum(len(set(revs) - {rev for rev, _ in one}) for one in heard),
        "out of order": sum([rev for rev, _ in one] != sorted(rev for rev, _ in one) for one in heard),
        "p95 from sending to hearing (s)": f"{np.quantile(delays, 0.95):.3f}",
    }


def main():
    options = arguments(
        __doc__,
        kills={"type": int, "default": 20, "help": "how often the server is killed (default %(default)s)"},
        listeners={"type": int, "default": 50, "help": "streams of events (default %(default)s)"},
        seconds={"type": float, "default": 30.0, "help": "of labels for the listeners (default %(default)s)"},
    )
    killed = kills(3 if options.quick else options.kills)
    print(markdown([killed]), flush=True)
    told = listeners(8 if options.quick else options.listeners, 4.0 if options.quick else options.seconds)
    text = f"# What `mercer studio` loses\n\n{machine()}\n\n{markdown([killed])}\n\n{markdown([told])}\n"
    publish("studio_durability", text, options.quick)
    return 1 if killed["lost"] or killed["wrong"] or told["missed"] or told["out of order"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
