"""Denœux's slides on USPS and Old Faithful: one-class SVM, kernel PCA features, anomalous digits, c-means.

    python -m benchmarks.papers.denoeux --data DIR [--only nu|times|features|study|outliers|faithful|report]
        [--jobs N] [--quick] [--out DIR] [--pictures DIR]

Reads DIR/usps.npz and DIR/faithful.npz. Prints, and writes to the results folder,
  denoeux_nu.csv        fraction of outliers and of support vectors for nu = 1 ... 90%: slide, ours, difference;
  denoeux_times.csv     training seconds against n for several nu;
  denoeux_features.csv  test error of a linear SVM on polynomial kernel PCA features, all cells;
  denoeux_study.csv     the same up to 256 components for every protocol that was tried (denoeux_features.py);
  denoeux.md            the page: every cell next to the slide's, counts, causes;
and the pictures denoeux_times.png, denoeux_outliers.png and denoeux_faithful.png. Features and study keep the rows that
are there, and may be broken off: delete the file to begin again. --quick takes two degrees, fewer components and sizes,
and writes to a temporary folder.
"""

import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from benchmarks.harness import PICTURES, RESULTS, arguments, median_times, need_data, write_csv
from benchmarks.papers.denoeux_features import COMPONENTS, STUDY, TABLE, compute
from benchmarks.papers.denoeux_page import report
from mercer import RBF, SVDD, KernelCMeans

SLIDE_NU = {1: (0.0, 10.0), 3: (0.1, 10.0), 5: (1.4, 10.6), 10: (6.2, 13.7), 30: (27.5, 31.8), 50: (47.4, 51.2),
            70: (68.3, 70.7), 90: (89.4, 90.1)}  # fmt: skip


def nu_table(X):
    """Outlier and support-vector fractions in %, two kernel widths."""
    rows = []
    for percent, (slide_out, slide_sv) in SLIDE_NU.items():
        row = {"nu %": percent, "slide outliers %": slide_out, "slide SVs %": slide_sv}
        for c in (128, 116):
            nu = percent / 100
            model = SVDD(nu=nu, kernel=RBF.from_gamma(1 / c), approx="exact", tol=1e-8).fit(X)
            outside = np.mean(model.predict(X) < 0)
            vectors = len(model.support_) / len(X)
            assert outside <= nu <= vectors, "the bounds of nu do not hold"
            row[f"outliers % (c={c})"] = round(float(100 * outside), 1)
            row[f"outliers - slide (c={c})"] = round(float(100 * outside) - slide_out, 1)
            row[f"SVs % (c={c})"] = round(100 * vectors, 1)
            row[f"SVs - slide (c={c})"] = round(100 * vectors - slide_sv, 1)
        rows.append(row)
    return rows


def time_curve(X, sizes, repeats=3):
    """Seconds of one fit (median of `repeats`) for growing n and several nu."""
    rows = []
    SVDD(nu=0.5, approx="exact").fit(X[:100])  # compile
    for nu in (0.01, 0.05, 0.1, 0.3, 0.5, 0.9):
        for n in sizes:
            model = SVDD(nu=nu, kernel=RBF.from_gamma(1 / 128), approx="exact")
            times = median_times({"fit": lambda model=model, n=n: model.fit(X[:n])}, repeats)
            rows.append({"nu": nu, "n": n, "seconds": round(times["fit"], 4)})
    return rows


def faithful(X, path):
    """c-means of Old Faithful with 2 and 3 clusters, as on the slides, next to scikit-learn's k-means."""
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained", sharey=True)
    rows = []
    for axis, k in zip(axes, (2, 3)):
        model = KernelCMeans(k, kernel="linear", n_init=10, random_state=0).fit(X)
        other = KMeans(k, n_init=10, random_state=0).fit(X)
        sizes = sorted(np.bincount(model.labels_).tolist())
        row = {"clusters": k, "sizes": " ".join(map(str, sizes)), "sum of squares": f"{model.inertia_:.2f}"}
        row |= {"k-means of scikit-learn": f"{other.inertia_:.2f}"}
        pairs = set(zip(model.labels_.tolist(), other.labels_.tolist()))
        row["same partition"] = "yes" if len(pairs) == k else "no"
        rows.append(row)
        axis.scatter(*X.T, c=model.labels_, s=12, cmap="viridis")
        axis.set(title=f"{k} clusters", xlabel="eruption, min")
    axes[0].set_ylabel("waiting, min")
    figure.savefig(path, dpi=100)
    return rows


def picture_outliers(X, y, path, count=24):
    """The images with the lowest decision value of a ball with nu = 5%."""
    model = SVDD(nu=0.05, kernel=RBF.from_gamma(1 / 128), approx="exact").fit(X)
    value = model.decision_function(X)
    worst = np.argsort(value)[:count]
    figure, axes = plt.subplots(3, count // 3, figsize=(8, 3.7), layout="constrained")
    for axis, i in zip(axes.ravel(), worst):
        axis.imshow(X[i].reshape(16, 16), cmap="gray_r", vmin=-1, vmax=1)
        axis.set_title(f"{y[i]}   {100 * value[i]:.1f}", fontsize=8)
        axis.axis("off")
    figure.suptitle("USPS test digits farthest outside the ball (label, 100 × decision value)", fontsize=10)
    figure.savefig(path, dpi=100)
    print("labels of the most anomalous digits:", y[worst].tolist())


def picture_times(rows, path):
    figure, axis = plt.subplots(figsize=(5, 3.6), layout="constrained")
    for nu in sorted({row["nu"] for row in rows}):
        n, seconds = zip(*[(r["n"], r["seconds"]) for r in rows if r["nu"] == nu])
        axis.loglog(n, seconds, marker="o", markersize=3, base=2, label=f"ν = {nu:g}")
    axis.set(xlabel="rows n", ylabel="seconds", title="SVDD training time, USPS")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
    figure.savefig(path, dpi=100)


def main():
    parts = ("nu", "times", "features", "study", "outliers", "faithful", "report")
    args = arguments(
        __doc__,
        data="optional",
        only={"choices": parts, "help": "one of the parts (default all but the study)"},
        jobs={"type": int, "default": 1, "help": "processes for features and study"},
        out={"type": Path, "default": RESULTS, "help": "folder of the tables (default benchmarks/results)"},
        pictures={"type": Path, "default": PICTURES, "help": "folder of the pictures (default docs/img)"},
    )
    if args.quick:  # smaller than what is published
        args.out = args.pictures = Path(tempfile.mkdtemp())
    if args.only != "report":
        need_data(args)
        usps = np.load(args.data / "usps.npz")
        train, test = usps["X_train"].astype(float), usps["X_test"].astype(float)
    if args.only in (None, "nu"):
        rows = nu_table(test)
        for row in rows:
            print(row)
        write_csv("denoeux_nu", rows, args.out)
    if args.only in (None, "outliers"):
        picture_outliers(test, usps["y_test"], args.pictures / "denoeux_outliers.png")
    if args.only in (None, "times"):
        X = np.concatenate([test, train])
        rows = time_curve(X, (256, 512, 1024) if args.quick else (256, 512, 1024, 2048, 4096, 8192))
        write_csv("denoeux_times", rows, args.out)
        picture_times(rows, args.pictures / "denoeux_times.png")
    if args.only in (None, "faithful"):
        rows = faithful(np.load(args.data / "faithful.npz")["X"].astype(float), args.pictures / "denoeux_faithful.png")
        write_csv("denoeux_faithful", rows, args.out)
    options = {"jobs": args.jobs, "out": args.out, "n_map": 1000 if args.quick else 3000}
    degrees = (2, 3) if args.quick else range(1, 8)
    if args.only in (None, "features"):
        components = (32, 128) if args.quick else COMPONENTS
        compute("denoeux_features", args.data, [TABLE], degrees, components, **options)
    if args.only == "study":
        protocols = STUDY[:2] if args.quick else STUDY
        compute("denoeux_study", args.data, protocols, degrees, COMPONENTS[: 1 if args.quick else 4], **options)
    if not args.quick:
        report(args.out)


if __name__ == "__main__":
    main()
