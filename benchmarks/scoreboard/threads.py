"""When do two BLAS threads pay? The measured table behind `mercer.backend.threads_for`."""

import os
import time

import numpy as np

from benchmarks.harness import markdown

# (rows, inner, columns) of A @ B
SHAPES = (
    ("thin: K V, 8 columns", 4000, 4000, 8),
    ("thin: K V, 24 columns", 4000, 4000, 24),
    ("thin: K V, 64 columns", 4000, 4000, 64),
    ("rows: Z w, r = 1,000, 1 column", 8192, 1000, 1),
    ("rows: Z W, r = 100, 10 columns", 8192, 100, 10),
    ("rows: Zᵀ A, r = 1,000, 10 columns", 1000, 8192, 10),
    ("tall: Zᵀ Z, r = 20", 20, 50_000, 20),
    ("tall: Zᵀ Z, r = 100", 100, 50_000, 100),
    ("tall: Zᵀ Z, r = 500", 500, 50_000, 500),
    ("tile: 512 × 512, d = 20", 512, 20, 512),
    ("tile: 512 × 512, d = 784", 512, 784, 512),
    ("square: 300", 300, 300, 300),
    ("square: 1000", 1000, 1000, 1000),
    ("square: 2000", 2000, 2000, 2000),
)


def threads(options):
    """Seconds on one thread and on all cores for products of several shapes: the fastest of 15, in alternation."""
    from mercer.backend import blas_threads, threads_for

    cores = len(os.sched_getaffinity(0))
    rng = np.random.default_rng(0)
    rows = []
    for name, m, k, n in SHAPES:
        A, B = rng.standard_normal((m, k)), rng.standard_normal((k, n))
        times = {1: [], cores: []}
        for turn in range(15):
            for number in (1, cores) if turn % 2 else (cores, 1):
                with blas_threads(number):
                    A @ B
                    start = time.perf_counter()
                    A @ B
                    times[number].append(time.perf_counter() - start)
        one, many = min(times[1]), min(times[cores])
        rate = 2 * m * k * n / one / 1e9
        rows.append(
            {"product": name, "m": m, "k": k, "n": n, "cores": cores, "one_ms": f"{1e3 * one:.3f}",
             "all_ms": f"{1e3 * many:.3f}", "gain": f"{one / many:.2f}", "one_gflops": f"{rate:.1f}",
             "rule": threads_for(m, k, n, cores)}
        )  # fmt: skip
        print("  ", rows[-1], flush=True)
    return rows


def page(rows):
    yield (
        "`mercer.backend.threads_for(m, k, n)` chooses the number of BLAS threads for a product of an m × k and a k × "
        "n matrix. Its thresholds come from this table of milliseconds on one thread and on all cores of a quiet "
        "machine. Small results and small tiles gain in some runs and lose in others. If other processes use the "
        "cores, OMP_NUM_THREADS=1 can be faster."
    )
    yield markdown(
        [
            {"product": row["product"], "1 thread": row["one_ms"], f"{row['cores']} threads": row["all_ms"],
             "gain": row["gain"], "GFlop/s on one": row["one_gflops"], "rule": row["rule"]}
            for row in rows
        ]
    )  # fmt: skip
