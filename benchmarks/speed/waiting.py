"""How long a person waits for FewLabelClassifier: teach, suggest, fit, predict, and teach on a busy machine.

    python -m benchmarks.speed.waiting [--parts fit teach large predict load held-out] [--quick]

Figures are medians of processor time and of wall time, with the targets. Rows are drawn from thirty clusters of ten
classes in eight directions of fifty columns, and 100 of them are labeled. All parts use one thread, except `load`:
a process with the default number of threads runs next to 1, 4 and 8 busy ones, and its wall time is compared with a
fair fraction of the cores. Each part runs in a fresh process. Results are kept by part in
benchmarks/results/waiting.csv, from which the page is written.
"""

import json
import os
import subprocess
import sys

from benchmarks.harness import ROOT, arguments, machine, markdown, publish, read_csv, thread_variables, write_csv

PARTS = ("fit", "teach", "large", "predict", "load", "held-out")

SETUP = """
import json, statistics, time
import numpy as np
from mercer import FewLabelClassifier, suggest
from mercer.few_label import weights

def rows(n, d=50, k=10):
    rng = np.random.default_rng(0)
    centers, A = 2.0 * rng.normal(size=(k, 3, 8)), rng.normal(size=(8, d))
    y, group = rng.integers(k, size=n), rng.integers(3, size=n)
    return (centers[y, group] + rng.normal(size=(n, 8))) @ A + 0.5 * rng.normal(size=(n, d)), y

def labeled(y, l=100):
    some = np.random.default_rng(1).permutation(len(y))
    given = np.full(len(y), -1)
    given[some[:l]] = y[some[:l]]
    return given, some[l:]

found = []

def show(what, seconds, target="", unit="s"):
    cpu, wall = seconds
    found.append(dict(what=what, cpu=f"{cpu:.3g}", wall=f"{wall:.3g}", unit=unit, target=target))

def once(function):
    cpu, wall = time.process_time(), time.perf_counter()
    function()
    return time.process_time() - cpu, time.perf_counter() - wall

def median(function, times=7):
    both = [once(function) for _ in range(times)]
    return tuple(statistics.median(one) for one in zip(*both))

def plus(*pairs):
    return tuple(sum(one) for one in zip(*pairs))

X, y = rows(300)
FewLabelClassifier().fit(X, labeled(y)[0])  # what is imported and compiled once
"""

CODES = {
    "fit": """
X, y = rows({small})
given, _ = labeled(y)
first = []
show("fit of {small:,} rows", median(lambda: FewLabelClassifier().fit(X, given), 3), "3")
start = time.process_time(), time.perf_counter()
told = lambda model: first.append((time.process_time() - start[0], time.perf_counter() - start[1]))
FewLabelClassifier(on_update=told).fit(X, given)
show("first predictions of that fit", first[0], "0.5")
""",
    "teach": """
X, y = rows({middle})
given, others = labeled(y)
show("fit of {middle:,} rows", once(lambda: globals().update(model=FewLabelClassifier().fit(X, given))))
{lesson}
teaching("{middle:,} rows", "0.1")
""",
    "large": """
X, y = rows({large})
given, others = labeled(y)
core = np.sort(np.random.default_rng(2).permutation(len(y))[:6000])
prepared = FewLabelClassifier(time_budget=12.0)
show("prepare {large:,} rows, 6,000 of them decomposed", once(lambda: prepared.prepare(X, core)))
some = np.flatnonzero(given >= 0)
model = prepared.taught(some, y[some])
{lesson}
teaching("{large:,} rows", "0.3")
""",
    "predict": """
import os, tempfile
import mercer
X, y = rows({middle})
given, others = labeled(y)
path = os.path.join(tempfile.mkdtemp(), "model.mercer")
mercer.save(FewLabelClassifier(time_budget=12.0).fit(X, given), path)
show("load a model of {middle:,} rows", once(lambda: globals().update(model=mercer.load(path))))
new = rows(1000)[0]
model.predict(new[:3])
for n, name, target in ((1, "1 row", "5"), (1000, "1,000 rows", "50")):
    both = median(lambda: model.predict(new[:n]), 21)
    show(f"predict {{name}}, loaded model of {middle:,}", tuple(1e3 * one for one in both), target, "ms")
""",
    "load": """
import os
X, y = rows({middle})
given, others = labeled(y)
model = FewLabelClassifier(time_budget=12.0).fit(X, given)
busy = {busy}
def lesson():
    model.taught(others[:1], y[others[:1]])
    suggest(model, 10)
lesson()
cpu, wall = median(lesson, 5)
fair = min(1.0, os.cpu_count() / (1 + busy))
show(f"teach and suggest at {middle:,} rows next to {{busy}} busy processes", (cpu, wall / (cpu / fair)),
     "1.3" if busy else "", "wall: × fair fraction")
""",
    "held-out": """
from mercer import RBF, LeastSquaresKPCA
from sklearn.semi_supervised import LabelSpreading
for n in (1000, 2000, 4000):
    X, y = rows(n, 10, 2)
    given, _ = labeled(y)
    ours = lambda: LeastSquaresKPCA(kernel=RBF(10.0), approx=min(300, n // 20)).fit(X, given)
    theirs = lambda: LabelSpreading(kernel="knn", n_neighbors=10).fit(X, given)
    wrong = [100 * np.mean((fit().transduction_ != y)[given < 0]) for fit in (ours, theirs)]
    our, peer = median(ours), median(theirs)
    show(f"LabelSpreading (knn) over LS-KPCA ({{min(300, n // 20)}} landmarks), {{n:,}} rows; errors "
         "{{:.1f}} and {{:.1f}}%".format(wrong[1], wrong[0]), (peer[0] / our[0], peer[1] / our[1]), "1", "×")
    show(f"LS-KPCA with its held-out predictions, {{n:,}} rows", median(lambda: ours().calibration_))
""",
}

LESSON = """
def teaching(where, target):
    one = median(lambda: model.taught(others[:1], y[others[:1]]))
    advice = median(lambda: suggest(model, 10))
    show(f"teach 1 label + all predictions + suggest, {where}", plus(one, advice), target)
    show(f"teach 1 label and predict all rows, {where}", one)
    show(f"suggest 10 rows, {where}", advice)
    went_on, tried = np.count_nonzero(model.weights_), len(model.weights_)
    weights.KEPT, before = 1.0, weights.KEPT
    slow = model.taught(others[:1], y[others[:1]])
    show(f"teach 1 label if no candidate stopped early ({went_on} of {tried} go on), {where}",
         median(lambda: slow.taught(others[1:2], y[others[1:2]])))
    weights.KEPT = before
    show(f"teach 100 labels at once, {where}", median(lambda: model.taught(others[:100], y[others[:100]])))
    show(f"teach 1 label with the fast update, {where}",
         median(lambda: model.taught(others[:1], y[others[:1]], tier="fast")))
    estimate = lambda: model.taught(others[:1], y[others[:1]])
    models = iter([estimate() for _ in range(3)])
    show(f"estimate_ (held-out folds), {where}", median(lambda: next(models).estimate_, 3))
"""


def run(code, threads):
    """What a fresh process finds."""
    environment = os.environ | ({} if threads is None else thread_variables(threads))
    script = SETUP + code + "\nprint(json.dumps(found))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def next_to(busy, code):
    """The same next to `busy` processes that never rest; BLAS has its default number of threads."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
    try:
        return run(code.replace("{busy}", str(busy)), None)
    finally:
        for other in others:
            other.kill()
            other.wait()


def main():
    choice = {"nargs": "+", "choices": PARTS, "default": PARTS}
    options = arguments(__doc__, parts=choice)
    sizes = (300, 1500, 6500) if options.quick else (1500, 20_000, 100_000)
    sizes = {"small": sizes[0], "middle": sizes[1], "large": sizes[2], "lesson": LESSON, "busy": "{busy}"}
    kept = {row["what"]: row for row in read_csv("waiting")} if not options.quick else {}
    for part in options.parts:
        code = CODES[part].format(**sizes)
        rows = [row for busy in (0, 1, 4, 8) for row in next_to(busy, code)] if part == "load" else run(code, 1)
        for row in rows:
            print(*row.values(), flush=True)
            kept[row["what"]] = row
    if not options.quick:
        write_csv("waiting", list(kept.values()))
    publish("waiting", PAGE.format(table=markdown(list(kept.values())), machine=machine()), options.quick)


PAGE = """# Waiting times

Medians of processor time and wall time, and the targets. 100 labels, 10 classes, 50 columns, one thread. The rows with
busy processes use the default threads. Their wall time is in units of (processor time / fair fraction of the cores).

{table}

How the time is spent, from profiles of the same code. The machine is shared, and two runs may differ by a quarter.

- **A fit of 1,500 rows.** A quarter is the decomposition of two kernel matrices for their 300 leading axes. A third is
  five graph spectra, and an eighth is seven Cholesky factors.
- **Candidates** compete in two rounds. All of them predict the held-out labels and 1,000 rows. Those that have 99% of
  the weight predict all rows. To fit all candidates to the labels is a thirtieth of a fit, and a larger part of
  `teach`.
- **`teach` and `suggest`.** A third is the product of all rows' features with the new weights. A compiled loop reads
  each feature space with weight once (450 MB at 100,000 rows). A quarter is `suggest`. The rest is thirty small fits
  with their held-out predictions, and two forests. With a time budget of 12 s there are fewer spaces. The rows with
  busy processes and the studio use this budget.
- **1,000 rows of a loaded model.** Two thirds are two exact neighbor searches among 20,000 rows of 50 columns. They
  read a twentieth of the values, because distant leaves and rows are skipped. The other third is similarities to 600
  landmarks.

Command: `python -m benchmarks.speed.waiting`.

{machine}
"""

if __name__ == "__main__":
    main()
