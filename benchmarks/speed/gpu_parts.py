"""What gpu.py measures on the device; each function is a part, and torch is needed to import them."""

import itertools
import time

import numpy as np
import torch

import mercer
from benchmarks.speed.gpu import operations
from mercer import RBF, SVDD, Exponential, KernelCMeans, KernelPCA, LeastSquaresKPCA, Linear, Polynomial, SemiKPCA
from mercer.geometry import fused
from mercer.geometry.maps import LandmarkMap
from mercer.geometry.operators.recomputed import device_tiles
from mercer.rows import gram
from mercer.solvers.label_search.features import search_basis, search_rows

ROWS = []


def say(what, target, measured, detail=""):
    ROWS.append({"what": what, "target": target, "measured": measured, "detail": detail})
    print(f"{what} | {target} | {measured} | {detail}", flush=True)


def seconds(function, repeats=3):
    function()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]


def normal(n, d, seed=0):
    generator = torch.Generator("cuda").manual_seed(seed)
    return torch.randn((n, d), generator=generator, device="cuda")


def mixture(n, d, centers=50):
    """A mixture of Gaussians in d dimensions: a spectrum with a few large eigenvalues, as data have."""
    generator = torch.Generator("cuda").manual_seed(1)
    middle = 2 * torch.randn((centers, d), generator=generator, device="cuda")
    which = torch.randint(centers, (n,), generator=generator, device="cuda")
    return middle[which] + normal(n, d)


def correctness():
    X, V = normal(3001, 37) + 5, normal(3001, 19, 1)
    kernels = [RBF(6.0), Exponential(6.0), Polynomial(3, 1.0, 0.01), 0.5 * RBF(6.0) + Linear()]
    for kernel in kernels:
        exact = kernel(X.double(), X.double()) @ V.double()
        errors = {
            p: float((fused.product(kernel, X, X, V, p) - exact).norm() / exact.norm())
            for p in ("fast", "high", "exact")
        }
        say(f"relative error, {kernel!r}", "", ", ".join(f"{p} {e:.1e}" for p, e in errors.items()))
        if errors["fast"] > 3e-3 or errors["high"] > 1e-5 or errors["exact"] > 1e-5:
            raise SystemExit("a product is wrong")


def products(quick):
    n = 100_000 if quick else 1_000_000
    kernel, V = RBF(14.0), normal(n, 32, 1)
    X = normal(n, 100)
    half = torch.randn(8192, 8192, device="cuda", dtype=torch.float16)
    peak = 2 * 8192**3 / seconds(lambda: half @ half, 5) / 1e12
    say("half-precision matrix product through torch", "", f"{peak:.0f} TFLOP/s", "the matrix units' practical limit")
    for precision, target in (("fast", "≤ 1.6 s"), ("high", "≤ 5 s")):
        sides = fused.sides(kernel, X, X, precision)
        took = seconds(lambda sides=sides: fused.multiply(kernel, *sides, V))
        rate = n * n * (2 * 100 + 2 * 32) / took / 1e12
        busy = n * n * operations(100, precision) / took / 1e12 / peak
        detail = f"{rate:.0f} useful TFLOP/s; the matrix units at {100 * busy:.0f}% of their practical limit"
        say(f"K @ V, n = {n:,}, d = 100, 32 columns, {precision}", target, f"{took:.2f} s", detail)
    sizes = (100_000,) if quick else (200_000, n)
    for rows, (precision, tf32) in itertools.product(sizes, (("fast", True), ("high", False))):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        A, B = X[:rows].contiguous(), V[:rows].contiguous()
        tiles = seconds(lambda A=A, B=B: device_tiles(kernel, A, A, B), 1)
        sides = fused.sides(kernel, A, A, precision)
        ours = seconds(lambda sides=sides, B=B: fused.multiply(kernel, *sides, B))
        name = "TF32" if tf32 else "float32"
        say(
            f"torch tiles ({name}) / fused ({precision}), n = {rows:,}",
            "≥ 8",
            f"{tiles / ours:.1f}",
            f"{tiles:.3f} s, {ours:.4f} s",
        )
    torch.backends.cuda.matmul.allow_tf32 = False


def scaling(quick):
    """Time of one product against n (d = 100) and against d (n = 100,000), 32 columns, both precisions."""
    curve = []
    for n, d in [(n, 100) for n in (10_000, 30_000, 100_000, 300_000, 1_000_000)] + [
        (100_000, d) for d in (2, 10, 32, 64, 128, 256, 512, 1024, 2048, 4096)
    ]:
        if quick and n * n * d > 1e12:
            continue
        X, V = normal(n, d), normal(n, 32, 1)
        kernel = RBF(float(np.sqrt(2 * d)))
        for precision in ("fast", "high"):
            work = (kernel, *fused.sides(kernel, X, X, precision), V)
            took = seconds(lambda work=work: fused.multiply(*work), 1 if n == 1_000_000 else 3)
            rate = n * n * (2 * d + 64) / took / 1e12
            curve.append({"n": n, "d": d, "precision": precision, "seconds": took, "useful_tflops": rate})
    for row in curve:
        print(row, flush=True)
    return curve


def pca(X, components, tol, kernel):
    torch.cuda.reset_peak_memory_stats()
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    model = KernelPCA(components, kernel=kernel, tol=tol)
    took = seconds(lambda: model.fit(X), 1 if X.shape[0] >= 1_000_000 else 3)
    used = torch.cuda.max_memory_allocated() - before + X.numel() * 4
    return model, took, used / 1e9


def kernel_pca(quick, data):
    sizes = [(100_000, "≤ 0.6 s")] if quick else [(100_000, "≤ 0.6 s"), (1_000_000, "≤ 30 s, < 10 GB")]
    for n, target in sizes:
        X = mixture(n, 100)
        model, took, used = pca(X, 20, 1e-4, RBF("median").resolve(X))
        detail = f"residual {model.result_.gap:.1e}, {model.result_.n_iter} passes, {used:.1f} GB"
        say(f"KernelPCA, n = {n:,}, d = 100, mixture, 20 components", target, f"{took:.2f} s", detail)
    check_pca()
    n = 100_000
    X = normal(n, 100)
    model, took, used = pca(X, 20, 1e-4, RBF("median").resolve(X))
    detail = f"residual {model.result_.gap:.1e}, {model.result_.n_iter} passes: no gap to find, every pass gains little"
    say(f"KernelPCA, n = {n:,}, d = 100, one Gaussian (flat spectrum)", "", f"{took:.2f} s", detail)
    if data is not None and (data / "mnist.npz").exists():
        X = torch.as_tensor(np.load(data / "mnist.npz")["X_train"], device="cuda").float() / 255
        model, took, used = pca(X, 50, 1e-5, RBF("median").resolve(X))
        detail = f"residual {model.result_.gap:.1e}, {model.result_.n_iter} passes, {used:.1f} GB"
        say("KernelPCA, MNIST 60,000 × 784, 50 components", "residual ≤ 1e-5", f"{took:.2f} s", detail)
        cpu_beside(X)


def check_pca():
    """The GPU's eigenvalues against LAPACK in float64 on 4,000 rows."""
    X = mixture(4000, 100)
    kernel = RBF("median").resolve(X)
    ours = KernelPCA(20, kernel=kernel, tol=1e-6).fit(X).eigenvalues_
    truth = KernelPCA(20, kernel=kernel, eigen_solver="full").fit(X.double().cpu().numpy()).eigenvalues_
    error = float(np.max(np.abs(ours / truth - 1)))
    say("eigenvalues on the GPU against LAPACK float64, n = 4,000", "≤ 1e-4", f"{error:.1e}")
    if error > 1e-4:
        raise SystemExit("the eigenvalues are wrong")


def cpu_beside(X):
    """scikit-learn's fastest solver on this machine's CPU, at a size whose Gram matrix and copies it can hold."""
    from sklearn.decomposition import KernelPCA as Sklearn

    n = 20_000
    rows = X[:n].double().cpu().numpy()
    gamma = 1 / (2 * RBF("median").resolve(rows).bandwidth ** 2)
    start = time.perf_counter()
    Sklearn(50, kernel="rbf", gamma=gamma, eigen_solver="arpack").fit(rows)
    took = time.perf_counter() - start
    say(f"scikit-learn KernelPCA (arpack) on the CPU, MNIST {n:,} × 784, 50 components", "", f"{took:.1f} s")


def svdd(quick):
    n = 10_000 if quick else 50_000
    X = mixture(n, 300, 10)
    kernel = RBF("median").resolve(X)
    model = SVDD(nu=0.1, kernel=kernel, approx="exact", tol=1e-4)
    took = seconds(lambda: model.fit(X), 3)
    detail = f"gap {model.gap_:.1e}, {model.n_iter_} rounds, {len(model.support_)} support vectors"
    say(f"SVDD, {n:,} × 300, nu = 0.1", "≤ 1 s at gap ≤ 1e-4", f"{took:.2f} s", detail)


def clustering(quick):
    """Kernel c-means with the exact kernel from one start, and k-means next to flash-kmeans if it is installed."""
    n = 100_000 if quick else 1_000_000
    X = mixture(n, 100, 10)
    first = np.random.default_rng(0).integers(10, size=n)
    kernel = RBF("median").resolve(X)
    model = KernelCMeans(10, kernel=kernel, approx="exact", n_init=1, random_state=0)
    took = seconds(lambda: model.fit(X), 1)
    detail = f"{model.n_iter_} iterations, {model.gap_:.2%} of the rows would still move, k-means++ start"
    say(f"KernelCMeans, n = {n:,}, d = 100, k = 10, exact RBF kernel", "≤ 30 s", f"{took:.2f} s", detail)
    model = KernelCMeans(10, kernel=Linear(), init=first, n_init=1, max_iter=30)
    took = seconds(lambda: model.fit(X), 1)
    detail = f"{model.n_iter_} iterations, inertia {model.inertia_:.6e}"
    say(f"KernelCMeans, n = {n:,}, d = 100, k = 10, linear kernel", "", f"{took:.2f} s", detail)
    try:
        from flash_kmeans import batch_kmeans_Euclid
    except ImportError:
        return say("flash-kmeans", "", "not installed")
    centers = torch.stack([X[torch.as_tensor(first == k, device="cuda")].mean(0) for k in range(10)])[None]

    def theirs():
        return batch_kmeans_Euclid(X[None], 10, max_iters=model.n_iter_, tol=0.0, init_centroids=centers)

    took = seconds(theirs, 1)
    found, middle = theirs()[:2]
    inertia = float((X - middle[0][found[0].long()].float()).square().sum(dtype=torch.float64))
    say("flash-kmeans from the same start", "", f"{took:.2f} s", f"{model.n_iter_} iterations, inertia {inertia:.6e}")


def ten_million(quick):
    """Exact kernel PCA of rows that come from host memory, with its certificate."""
    n = 200_000 if quick else 10_000_000
    X = mixture(n, 50).cpu()
    kernel = RBF("median").resolve(X[:20_000].numpy())
    start = time.perf_counter()
    model = KernelPCA(10, kernel=kernel, tol=1e-3).fit(mercer.to_device(X.numpy(), "cuda"))
    torch.cuda.synchronize()
    took, used = time.perf_counter() - start, torch.cuda.max_memory_allocated() / 1e9
    detail = f"residual {model.result_.gap:.1e}, {model.result_.n_iter} passes, {used:.1f} GB"
    say(f"KernelPCA, n = {n:,}, d = 50, mixture, 10 components, rows from the host", "", f"{took:.0f} s", detail)


def few_labels(quick):
    n = 100_000 if quick else 1_000_000
    X = mixture(n, 20, 4)
    side = (X[:, 0] > 0).cpu().numpy()
    y = np.full(n, np.nan, dtype=object)
    labeled = np.random.default_rng(0).choice(n, 200, replace=False)
    y[labeled] = np.where(side[labeled], "right", "left")
    kernel = RBF("median").resolve(X)
    models = [
        SemiKPCA(kernel=kernel, approx=1000),
        LeastSquaresKPCA(kernel=kernel, approx=1000),
    ]
    for model in models:
        took = seconds(lambda model=model: model.fit(X, y))
        right = float(np.mean((model.transduction_ == "right") == side))
        say(f"{type(model).__name__}, n = {n:,}, 1,000 landmarks", "≤ 10 s", f"{took:.1f} s", f"accuracy {right:.3f}")
        torch.cuda.empty_cache()
    parts = {}

    def preprocessing():
        start = time.perf_counter()
        Z = LandmarkMap(kernel, 1000).fit_transform(X)
        torch.cuda.synchronize()
        parts["map"] = time.perf_counter()
        basis = search_basis(gram(Z) / n)
        parts["moments"] = time.perf_counter()
        W, _ = search_rows(Z, 1 / n, basis, 2**-5)
        ends = [start, parts["map"], parts["moments"], time.perf_counter()]
        parts.update(zip(("map", "moments", "rows"), np.diff(ends)), shape=W.shape)

    took = seconds(preprocessing)
    detail = ", ".join(f"{name} {parts[name]:.1f} s" for name in ("map", "moments", "rows"))
    what = "S2RLSClassifier's preprocessing, W {} × {} on the host".format(*parts["shape"])
    say(what, "≤ 10 s", f"{took:.1f} s", detail)


def use_device():
    """NumPy rows through `mercer.use_device`: the same components as on the host."""
    X = mixture(4000, 20).double().cpu().numpy()
    plain = KernelPCA(5, kernel=RBF(6.0)).fit_transform(X)
    with mercer.use_device("cuda"):
        there = KernelPCA(5, kernel=RBF(6.0)).fit_transform(X)
    error = float(np.max(np.abs(np.abs(there) - np.abs(plain))) / np.max(np.abs(plain)))
    say("KernelPCA of NumPy rows under use_device('cuda') against the host", "≤ 1e-3", f"{error:.1e}")
    if error > 1e-3 or not isinstance(there, np.ndarray):
        raise SystemExit("use_device gives another answer")


def measure(options):
    """Run the parts requested; what they found, ready for JSON."""
    import triton

    machine = f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}"
    print(machine, flush=True)
    curve = []
    parts = {
        "correctness": correctness,
        "use_device": use_device,
        "products": lambda: products(options.quick),
        "pca": lambda: kernel_pca(options.quick, options.data),
        "svdd": lambda: svdd(options.quick),
        "clustering": lambda: clustering(options.quick),
        "few": lambda: few_labels(options.quick),
        "scaling": lambda: curve.extend(scaling(options.quick)),
    }
    if options.only == "ten million":  # ten minutes, so only if it is named
        parts = {"ten million": lambda: ten_million(options.quick)}
    for name, part in parts.items():
        if options.only in ("all", name):
            part()
            torch.cuda.empty_cache()
    return {"machine": machine, "rows": ROWS, "scaling": curve}
