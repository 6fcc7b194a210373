"""OutlierDetector on 20,000 and a million rows of 50 columns: seconds and peak memory, on the host or on a GPU.

    python -m benchmarks.speed.outliers [--quick] [--threads 2] [--device cuda]

Each case in a fresh process; a first small fit compiles and is not counted. "fit" includes the scores of all training
rows. The processor time of all threads depends less on what else the machine does than the seconds. Others (Isolation
Forest, LOF, ECOD, KNN) run on 20,000 rows, and Isolation Forest and ECOD on a million.
--device cuda runs OutlierDetector on rows that are on the GPU already. Prints, and writes
benchmarks/results/outliers_speed.md (or outliers_gpu.md).
"""

from benchmarks.harness import arguments, in_fresh_process, machine, markdown, publish

CODE = """
import time
import numpy as np
from mercer import OutlierDetector, to_device
from benchmarks.accuracy import outlier_peers as peers

def rows(n):
    X = np.random.default_rng(0).standard_t(5, size=(n, 50)).astype(np.float32)
    X[: n // 100] *= 3
    return X if {device!r} == "cpu" else to_device(X, {device!r})

def wait():
    if {device!r} != "cpu":
        import torch
        torch.cuda.synchronize()

def setup():
    OutlierDetector(random_state=0).fit(rows(6000)).score_samples(rows(3000))
    wait()
    return rows({n})

def ours(X):
    start = time.perf_counter()
    model = OutlierDetector(random_state=0).fit(X)
    wait()
    fit = time.perf_counter() - start
    start = time.perf_counter()
    model.score_samples(X)
    wait()
    new = time.perf_counter() - start
    top = np.argsort(model.training_scores_)[: {n} // 100]
    return dict(fit=fit, new=new, found=float(np.mean(top < {n} // 100)))

def work(X):
    start = time.process_time()
    found = {work}(X)
    return dict(found if isinstance(found, dict) else (), cpu=time.process_time() - start)
"""
OTHERS = {
    "scikit-learn IsolationForest(200)": "peers.forest",
    "ECOD": "peers.ecod",
    "scikit-learn LocalOutlierFactor(20)": "peers.local",
    "KNN(5)": "peers.neighbor(5)",
}


def case(name, n, work, options, device="cpu"):
    found = in_fresh_process(CODE.format(n=n, work=work, device=device), options.threads)
    return {
        "detector": name,
        "rows": f"{n:,}",
        "fit and training scores, s": f"{found.get('fit', found['seconds']):.1f}",
        "scores of as many new rows, s": f"{found['new']:.1f}" if "new" in found else "",
        "processor time of both, s": f"{found['cpu']:.1f}",
        "peak memory above the rows, GB": f"{found['peak_bytes'] / 1e9:.2f}",
    }


def main():
    options = arguments(__doc__, threads=2, device={"default": "cpu", "help": "cpu or cuda"})
    sizes = (2_000, 20_000) if options.quick else (20_000, 1_000_000)
    table = []
    for n in sizes:
        table.append(case("OutlierDetector()", n, "ours", options, options.device))
        print(table[-1], flush=True)
        for name in [] if options.device != "cpu" else list(OTHERS)[: 4 if n == sizes[0] else 2]:
            table.append(case(name, n, OTHERS[name], options))
            print(table[-1], flush=True)
    text = "# Seconds and memory of outlier detection\n\n"
    text += f"{machine()}, {options.threads} threads, device {options.device}. "
    text += "50 columns in single precision. Command: `python -m benchmarks.speed.outliers"
    text += "`" if options.device == "cpu" else f" --device {options.device}`"
    name = "outliers_speed" if options.device == "cpu" else "outliers_gpu"
    publish(name, f"{text}\n\n{markdown(table)}\n", options.quick)


if __name__ == "__main__":
    main()
