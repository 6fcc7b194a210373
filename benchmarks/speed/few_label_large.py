"""FewLabelClassifier on 50,000 rows of MNIST with 100 labels: seconds, peak memory, accuracy.

    python -m benchmarks.speed.few_label_large --data DIR [--quick]

In a fresh process, with one thread. The target is five minutes. Prints and writes
benchmarks/results/few_label_large.md.
"""

from benchmarks.harness import arguments, in_fresh_process, machine, publish

CODE = """
import time
import numpy as np
from mercer import FewLabelClassifier

def setup():
    file = np.load({path!r})
    X, y = file["X_train"][:{n}].astype(np.float32) / 255, file["y_train"][:{n}].astype(int)
    given = np.full({n}, -1)
    rows = np.random.default_rng(0).choice({n}, 100, replace=False)
    given[rows] = y[rows]
    return X, y, given, file["X_test"].astype(np.float32) / 255, file["y_test"]

def work(x):
    X, y, given, X_test, y_test = x
    start = time.perf_counter()
    model = FewLabelClassifier().fit(X, given)
    fit = time.perf_counter() - start
    free = given < 0
    right = float(np.mean(model.predicted_[free] == y[free]))
    start = time.perf_counter()
    predicted = model.predict(X_test)
    predict = time.perf_counter() - start
    start = time.perf_counter()
    rows = np.flatnonzero(free)[:10]
    model.teach(rows, y[rows])
    teach = time.perf_counter() - start
    return dict(fit=fit, predict=predict, teach=teach, rows=right,
                test=float(np.mean(predicted == y_test)), skipped=len(model.skipped_))
"""


def main():
    options = arguments(__doc__, data="required")
    n = 3000 if options.quick else 50_000
    found = in_fresh_process(CODE.format(path=str(options.data / "mnist.npz"), n=n), threads=1)
    page = f"""# FewLabelClassifier on {n:,} rows of MNIST, 100 labels

| what | measured | target |
|---|---|---|
| fit, one thread | {found["fit"]:.0f} s | < 300 s |
| ten more labels with `teach` | {found["teach"]:.1f} s | |
| predict 10,000 new rows | {found["predict"]:.1f} s | |
| memory above the data | {found["peak_bytes"] / 1e9:.1f} GB | |
| accuracy on the unlabeled rows | {found["rows"]:.1%} | |
| accuracy on the 10,000 test rows | {found["test"]:.1%} | |
| feature spaces skipped by the default time budget | {found["skipped"]:.0f} | |

Command: `python -m benchmarks.speed.few_label_large --data DIR`.

{machine()}
"""
    publish("few_label_large", page, options.quick)


if __name__ == "__main__":
    main()
