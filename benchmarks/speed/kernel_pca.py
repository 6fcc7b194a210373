"""Kernel PCA next to scikit-learn: speed, memory, the operator, Nyström, import time.

    python -m benchmarks.speed.kernel_pca [--threads 2] [--quick]

Prints one table of targets and measurements and writes results/kernel_pca.csv. Times are medians of alternating runs in
one process, memory is the peak of a fresh process above its data and imports.
"""

import os
import subprocess
import sys

from benchmarks.harness import (
    arguments,
    in_fresh_process,
    machine,
    markdown,
    median_times,
    thread_variables,
    write_csv,
)

SETUP = """
import numpy as np
from mercer import KernelPCA, RBF
from sklearn.decomposition import KernelPCA as Sklearn
def setup():
    X = np.random.default_rng(0).standard_normal(({n}, {d})).astype("{dtype}")
    # first use of BLAS, ARPACK and thread pools is not what is measured
    KernelPCA(2, kernel="rbf").fit(X[:600]); Sklearn(2, kernel="rbf", eigen_solver="arpack").fit(X[:600])
    return X
"""


def speed(quick):
    """fit_transform of 20 components at n = 6,000 (RBF, d = 20) in one process."""
    import numpy as np
    from sklearn.decomposition import KernelPCA as Sklearn

    from mercer import KernelPCA

    n = 1500 if quick else 6000
    X = np.random.default_rng(0).standard_normal((n, 20))
    fits = {"mercer": lambda: KernelPCA(20, kernel="rbf").fit_transform(X)}
    for solver in ("arpack", "randomized"):
        fits[solver] = lambda solver=solver: Sklearn(20, kernel="rbf", eigen_solver=solver).fit_transform(X)
    for fit in fits.values():
        fit()
    times = median_times(fits, 5)
    default = median_times({"default": lambda: Sklearn(20, kernel="rbf").fit_transform(X)}, 1)["default"]
    ours = KernelPCA(20, kernel="rbf").fit(X)
    exact = Sklearn(20, kernel="rbf", eigen_solver="arpack").fit(X).eigenvalues_
    error = float(np.max(np.abs(ours.eigenvalues_ / exact - 1)))
    fastest = min(("arpack", "randomized"), key=times.get)
    at = f"n = {n}, 20 components"
    return [
        row(
            f"{at}: scikit-learn default / mercer",
            "≥ 10",
            f"{default / times['mercer']:.1f}",
            f"{times['mercer']:.2f} s",
        ),
        row(
            f"{at}: scikit-learn fastest ({fastest}) / mercer",
            "≥ 1.5",
            f"{times[fastest] / times['mercer']:.2f}",
            ", ".join(f"{name} {value:.2f} s" for name, value in times.items()),
        ),
        row(
            f"{at}: largest relative difference of eigenvalues",
            "≤ 1e-6",
            f"{error:.1e}",
            f"residual {ours.result_.gap:.0e}",
        ),
    ]


def memory(quick, threads):
    n = 1500 if quick else 6000
    rows = []
    for dtype, target in (("float64", "≤ 1.3"), ("float32", "≤ 0.7")):
        code = SETUP.format(n=n, d=20, dtype=dtype) + "\ndef work(X): KernelPCA(20, kernel='rbf').fit_transform(X)"
        peak = in_fresh_process(code, threads)["peak_bytes"] / (8 * n * n)
        rows.append(row(f"n = {n}, {dtype}: peak memory in float64 Gram matrices", target, f"{peak:.2f}", ""))
    return rows


def operator(quick, threads):
    n = 5000 if quick else 50_000
    code = SETUP.format(n=n, d=50, dtype="float64") + (
        "\ndef work(X):\n    m = KernelPCA(10, kernel=RBF('median'), solver='operator', tol=1e-6).fit(X)"
        "\n    return dict(gap=m.result_.gap, passes=m.result_.n_iter)"
    )
    found = in_fresh_process(code, threads)
    gram = 8 * n * n / 1e9
    return [
        row(
            f"n = {n}, d = 50, 10 components with the operator: extra memory",
            "< 1 GB",
            f"{found['peak_bytes'] / 1e9:.2f} GB",
            f"{found['seconds']:.0f} s, {found['passes']} passes, residual {found['gap']:.0e}; "
            f"a Gram matrix is {gram:.0f} GB",
        )
    ]


def nystroem(quick):
    """Features and 10 components of 100,000 rows from 500 landmarks, and the kernel error of both."""
    import numpy as np
    from sklearn.decomposition import PCA
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline

    from mercer import RBF, KernelPCA

    n = 10_000 if quick else 100_000
    rng = np.random.default_rng(0)
    centers = 3 * rng.standard_normal((20, 10))
    X = centers[rng.integers(20, size=n)] + rng.standard_normal((n, 10))
    kernel = RBF("median").resolve(X)
    gamma = 1 / (2 * kernel.bandwidth**2)
    sample = rng.choice(n, 2000, replace=False)
    K = kernel(X[sample])

    def error(Z):
        return float(np.linalg.norm(K - Z[sample] @ Z[sample].T) / np.linalg.norm(K))

    theirs = make_pipeline(Nystroem(gamma=gamma, n_components=500, random_state=0), PCA(10))
    theirs_error = error(Nystroem(gamma=gamma, n_components=500, random_state=0).fit_transform(X))
    fits = {
        "scikit-learn": lambda: theirs.fit_transform(X),
        "mercer": lambda: KernelPCA(10, kernel=kernel, approx=500).fit_transform(X),
    }
    for fit in fits.values():
        fit()
    times = median_times(fits, 3)
    ours = KernelPCA(10, kernel=kernel, approx=500).fit(X)
    return [
        row(
            f"n = {n}, 500 landmarks, 10 components: Nystroem + PCA / mercer",
            "≥ 2",
            f"{times['scikit-learn'] / times['mercer']:.2f}",
            f"{times['mercer']:.2f} s against {times['scikit-learn']:.2f} s; "
            f"kernel error {error(ours.map_.transform(X)):.1e} against {theirs_error:.1e}",
        )
    ]


def import_time():
    def seconds(code):
        script = f"import time; t = time.perf_counter(); {code}; print(time.perf_counter() - t)"
        runs = [
            float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout)
            for _ in range(5)
        ]
        return sorted(runs)[2]

    base = "import sklearn.base, sklearn.decomposition, sklearn.utils.validation"
    extra = seconds(base + "; import mercer; mercer.KernelPCA") - seconds(base)
    return [row("import mercer (and KernelPCA) beyond scikit-learn", "< 0.3 s", f"{extra:.2f} s", "")]


def row(what, target, measured, detail):
    return {"what": what, "target": target, "measured": measured, "detail": detail}


def main():
    options = arguments(__doc__, threads=2)
    os.environ.update(thread_variables(options.threads))  # NumPy is not loaded yet
    rows = speed(options.quick) + nystroem(options.quick)
    rows += memory(options.quick, options.threads) + operator(options.quick, options.threads) + import_time()
    print(f"{machine()}, {options.threads} threads\n\n{markdown(rows)}")
    if not options.quick:
        write_csv("kernel_pca", rows)


if __name__ == "__main__":
    main()
