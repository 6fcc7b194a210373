"""The slow paths of mercer next to what this machine could do.

That is flops over the measured GEMM rate, kernel values over the rate of exp, and bytes over the measured bandwidth.
The limit of a path is the larger of compute and memory time.
"""

import time
import warnings
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import numpy as np

from benchmarks.harness import markdown

from .cases import mixture


def profiles(options):
    """Rows: the machine's three rates, then every path with its seconds, its counts and its limit."""
    warnings.simplefilter("ignore")
    rate = rates()
    print("  ", {name: f"{value:.2e}" for name, value in rate.items()}, flush=True)
    rows = [line("the machine", "", {}, rate)]
    for path in PATHS:
        try:
            title, n, seconds, counts = path()
        except Exception as error:
            print(f"   {path.__name__} failed: {error}", flush=True)
            continue
        rows.append(line(title, n, {"seconds": seconds, **counts}, rate))
        print("  ", rows[-1], flush=True)
    return rows


def rates():
    """Flops per second of a square product, exps per second in the cache, bytes per second of a sum over 400 MB."""
    rng = np.random.default_rng(0)
    A, tile, long = rng.standard_normal((1500, 1500)), rng.standard_normal((512, 512)), np.ones(50_000_000)
    work = {
        "flops": (lambda: A @ A, 2 * 1500**3),
        "exps": (lambda: np.exp(tile, out=out), tile.size),
        "bytes": (lambda: long.sum(), long.nbytes),
    }
    out = np.empty_like(tile)
    return {name: amount / timed(function, 7) for name, (function, amount) in work.items()}


def timed(function, repeats=1):
    """Seconds of the fastest of some calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def line(path, n, found, rate):
    out = {"path": path, "n": n, "seconds": "", "flops": "", "exps": "", "bytes": "", "limit_s": "", "fraction": ""}
    if not found:
        return {**out, **{name: f"{value:.3g}" for name, value in rate.items()}}
    counts = {name: found.get(name, 0.0) for name in rate}
    compute = counts["flops"] / rate["flops"] + counts["exps"] / rate["exps"]
    limit = max(compute, counts["bytes"] / rate["bytes"])
    out |= {name: f"{value:.3g}" for name, value in counts.items()}
    return {**out, "seconds": f"{found['seconds']:.3g}", "limit_s": f"{limit:.3g}",
            "fraction": f"{limit / found['seconds']:.2f}"}  # fmt: skip


def kernel_pca_operator(n=10_000, d=20, components=20):
    """Each pass evaluates half of the kernel matrix and multiplies each tile with two blocks of vectors."""
    from mercer import RBF, KernelPCA

    data = mixture(n)
    KernelPCA(2, kernel=RBF.from_gamma(data["gamma"]), solver="operator").fit(data["X"][:1500])
    model = KernelPCA(components, kernel=RBF.from_gamma(data["gamma"]), solver="operator")
    seconds = timed(lambda: model.fit(data["X"]), 3)
    passes, width = model.result_.n_iter + 1, components + 4
    half = n * n / 2
    counts = {"flops": passes * (2 * d * half + 4 * width * half), "exps": passes * half}
    return f"KernelPCA, {components} components, without the matrix ({passes} passes)", n, seconds, counts


def kernel_pca_stored(n=12_000, d=20, components=20):
    """Half of the matrix is evaluated; a product with one vector reads half of it, the residuals read it once."""
    from mercer import RBF, KernelPCA

    data = mixture(n)
    model = KernelPCA(components, kernel=RBF.from_gamma(data["gamma"]), solver="stored")
    model.fit(data["X"][:3000])
    seconds = timed(lambda: model.fit(data["X"]), 3)
    products, entries = model.result_.n_iter, n * n
    flops = (d + 2 * products + 2 * components) * entries
    counts = {"flops": flops, "exps": entries / 2, "bytes": (products / 2 + 3) * 8 * entries}
    return f"KernelPCA, {components} components, stored ({products} products)", n, seconds, counts


def one_class(n=10_000, d=20, nu=0.5):
    """At least every support vector's column is evaluated once, and read for the gradient when it moves."""
    from mercer import RBF, SVDD

    data = mixture(n)
    model = SVDD(nu, kernel=RBF.from_gamma(data["gamma"]), approx="exact")
    model.fit(data["X"][:1000])
    seconds = timed(lambda: model.fit(data["X"]), 3)
    columns = len(model.support_)
    counts = {"flops": 2 * d * columns * n, "exps": columns * n, "bytes": 8 * columns * n}
    return f"SVDD, ν = {nu} ({columns} support vectors)", n, seconds, counts


def ridge_before():
    """The same through the exact feature map, which exact ridge regression used before it solved the dual."""
    return ridge(4000, dual=False)


def ridge(n=8000, d=20, dual=True):
    """Half of the kernel matrix, and a Cholesky factor."""
    from mercer import RBF, LSSVMRegressor

    data = mixture(n)
    X, y = data["X"], np.sin(data["X"][:, 0])
    model = LSSVMRegressor(10.0, kernel=RBF.from_gamma(data["gamma"]), approx="exact")
    if not dual:
        model._kernel_for_dual = lambda X, rows, weight: None
    model.fit(X[:1000], y[:1000])
    seconds = timed(lambda: model.fit(X, y), 3 if dual else 1)
    name = "LSSVMRegressor, exact" if dual else BEFORE
    return name, n, seconds, {"flops": d * n * n + n**3 / 3, "exps": n * n / 2, "bytes": 8 * n * n}


def nystroem(n=100_000, d=20, m=500):
    """Kernel values of all rows against the landmarks, and a triangular solve for each row."""
    from mercer import RBF, LandmarkMap

    data = mixture(n)
    model = LandmarkMap(RBF.from_gamma(data["gamma"]), m, random_state=0)
    model.fit_transform(data["X"][:1000])
    seconds = timed(lambda: model.fit_transform(data["X"]), 3)
    counts = {"flops": 2 * d * n * m + n * m * m, "exps": n * m, "bytes": 2 * 8 * n * m}
    return f"LandmarkMap, {m} landmarks", n, seconds, counts


def graph(n=8000, rank=80):
    """Products of the sparse matrix with blocks in single precision, and keeping the filtered blocks orthogonal."""
    from mercer.graphs import neighbors, spectrum

    W, _ = neighbors.neighbor_graph(mixture(n)["X"], 10)
    Lap, real, blocks = neighbors.laplacian(W), spectrum._Space.grow, []

    def counting(space):
        blocks.append((space.degree + 1, space.block.shape[1], space.size))
        real(space)

    spectrum._Space.grow = counting
    try:
        seconds = timed(lambda: spectrum.low_spectrum(Lap, rank))
    finally:
        spectrum._Space.grow = real
    counts = {
        "flops": sum(2 * Lap.nnz * steps * width + 12 * n * size * width for steps, width, size in blocks),
        "bytes": sum(steps * (8 * Lap.nnz + 12 * n * width) + 24 * n * size for steps, width, size in blocks),
    }
    steps = sum(steps for steps, _, _ in blocks)
    return f"{rank} eigenvectors of a neighbor graph ({steps} products with a block)", n, seconds, counts


def few_label(n=1500):
    """Nominal flops of every factorization and decomposition that the fit asks LAPACK for, and no more."""
    from mercer import FewLabelClassifier

    data = mixture(n, d=50)
    FewLabelClassifier().fit(data["X"][:300], data["given"][:300])
    total = {"flops": 0.0}
    with counted(total):
        seconds = timed(lambda: FewLabelClassifier().fit(data["X"], data["given"]))
    return "FewLabelClassifier.fit (LAPACK's flops only)", n, seconds, total


def lesson(n=20_000):
    """One more label and all predictions: the features of every space that has weight are read once."""
    from mercer import FewLabelClassifier
    from mercer.few_label.scoring import Scorer, own_matrices

    data = mixture(n, d=50)
    model = FewLabelClassifier().fit(data["X"], data["given"])
    row = np.flatnonzero(data["given"] < 0)[:1]
    seconds = timed(lambda: model.taught(row, model.classes_[:1]), 5)
    fitted = model.answers_.fit.fitted
    read = Scorer([one for one, weight in zip(fitted, model.weights_) if weight > 0], own_matrices).parts
    counts = {
        "flops": sum(2.0 * Z.size * W.shape[1] for Z, _, W in read),
        "bytes": sum(Z.nbytes for Z, _, _ in read),
    }
    return "FewLabelClassifier.taught, one label (features of all rows, read once)", n, seconds, counts


def prediction(n=20_000, m=1000):
    """Predictions for new rows: the search compares them with every training row once, by products of the same rows."""
    from mercer import FewLabelClassifier

    data = mixture(n + m, d=50)
    model = FewLabelClassifier(time_budget=12.0).fit(data["X"][:n], data["given"][:n])
    model.predict(data["X"][n:])
    seconds = timed(lambda: model.predict(data["X"][n:]), 5)
    graphs = [part for part in model.answers_.fit.predictor.parts if hasattr(part, "kernel")]
    return f"FewLabelClassifier.predict, {m} rows (all pairs)", n, seconds, {"flops": 2.0 * m * n * 50 * len(graphs)}


COSTS = {  # nominal flops of the calls of LAPACK
    "eigh": lambda A, *rest: 22 / 3 * len(A) ** 3,  # reduction 4/3, divide and conquer 4, vectors back 2
    "eigh_tridiagonal": lambda diagonal, *rest: 4 * len(diagonal) ** 3,
    "svd": lambda A, *rest: 6 * max(A.shape) * min(A.shape) ** 2,
    "cholesky": lambda A, *rest: len(A) ** 3 / 3,
    "solve_triangular": lambda A, B, *rest: len(A) ** 2 * (B.shape[1] if B.ndim > 1 else 1),
    "sytrd": lambda A, *rest: 4 / 3 * len(A) ** 3,
    "ormqr": lambda side, trans, A, tau, C, *rest: 2 * len(C) ** 2 * C.shape[1],
    "dsyevd": lambda A, *rest: 22 / 3 * len(A) ** 3,
    "dpotrf": lambda A, *rest: len(A) ** 3 / 3,
    "dpstrf": lambda A, *rest: len(A) ** 3 / 3,
    "dtrtri": lambda A, *rest: len(A) ** 3 / 3,
    "dlauum": lambda A, *rest: len(A) ** 3 / 3,
}


@contextmanager
def counted(total):
    """Within it scipy.linalg, and what it hands out of LAPACK, adds nominal flops to total["flops"]."""
    import scipy.linalg as sla

    def counting(name, function):
        def call(*args, **options):
            total["flops"] += COSTS[name](*args)
            return function(*args, **options)

        return call if name in COSTS else function

    def handing_out(names, *rest):
        found = hand_out(names, *rest)
        return counting(names, found) if isinstance(names, str) else [*map(counting, names, found)]

    own = [(module, name) for module in (sla, sla.lapack) for name in COSTS if hasattr(module, name)]
    hand_out = sla.get_lapack_funcs
    with ExitStack() as patches:
        patches.enter_context(patch.object(sla, "get_lapack_funcs", handing_out))
        for module, name in own:
            patches.enter_context(patch.object(module, name, counting(name, getattr(module, name))))
        yield


PATHS = (kernel_pca_operator, kernel_pca_stored, one_class, ridge, ridge_before, nystroem, graph, few_label)
PATHS += (lesson, prediction)


BEFORE = "exact ridge regression through the feature map (for comparison)"
NOTES = {
    "FewLabelClassifier.fit": "LAPACK's eigh on some dozens of feature spaces, whose reduction to tridiagonal form is "
    "bound by memory and not by the GEMM rate.",
    "KernelPCA, 20 components, without": "Bound by exp and by two products with each tile, which stays in the cache. "
    "A stored matrix is faster while it fits.",
    "KernelPCA, 20 components, stored": "In Lanczos a product with one vector reads half of the matrix, at the speed "
    "of memory. The rest is the matrix itself, half of it evaluated and all of it written.",
    "SVDD": "Columns of support vectors are evaluated once and kept. The rest is choosing and moving pairs, which "
    "reads the gradient at every step.",
    "LSSVMRegressor": "A float32 factor preconditions conjugate gradients in float64.",
    "LandmarkMap": "A triangular solve for every row, half of the flops of a product with a square root.",
    "80 eigenvectors": "Sparse products gather rows from all over the block and reach a sixth of the GEMM rate.",
}


def page(rows):
    rate, paths = rows[0], sorted(rows[1:], key=lambda row: -float(row["seconds"]))
    yield (
        f"Measured in the same run: {float(rate['flops']) / 1e9:.0f} GFlop/s (a square product), "
        f"{float(rate['exps']) / 1e9:.2f} G exps/s (in the cache), {float(rate['bytes']) / 1e9:.1f} GB/s (a sum). "
        "The limit is the time of flops and exps at these rates, or of the bytes that must move, whichever is longer. "
        "The slowest path is first."
    )
    yield markdown(
        [
            {"path": row["path"], "n": row["n"], "seconds": row["seconds"], "GFlop": f"{float(row['flops']) / 1e9:.3g}",
             "G exps": f"{float(row['exps']) / 1e9:.3g}", "GB": f"{float(row['bytes']) / 1e9:.3g}",
             "limit, s": row["limit_s"], "limit / time": row["fraction"]}
            for row in paths
        ]
    )  # fmt: skip
    slowest = [row for row in paths if row["path"] != BEFORE][:3]
    said = [(row, text) for row in slowest for start, text in NOTES.items() if row["path"].startswith(start)]
    yield (
        "The first path, through the exact feature map, is not used. `LSSVMRegressor` preconditions float64 conjugate "
        "gradients with a float32 factor. A fraction near or above 1 is possible, because the limit counts float64 "
        "flops."
    )
    yield "The three slowest:\n\n" + "\n".join(f"- **{row['path'].split(' (')[0]}.** {text}" for row, text in said)
