"""Rows in Dask, and the targets: time, memory of the client, traffic, processor time, and rates.

    python -m benchmarks.cluster --quick
    python -m benchmarks.cluster --rows 10000000 --workers 2 --data FOLDER

Writes Parquet files of random clusters into a temporary folder (or below --data, where they are kept), starts a local
cluster of processes with one thread and 2 GB each, and prints a table of measurements and targets.
"""

import argparse
import math
import os
import shutil
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import psutil
from distributed import Client, LocalCluster

from mercer import RBF, SemiKPCA
from mercer.geometry.maps import LandmarkMap
from mercer.geometry.maps.rows import GROWTH, raw_moments

COLUMNS = 20


def part(path, number, rows, columns=COLUMNS):
    """Write one file of rows in five clusters; 20 rows of the first file have a label."""
    rng = np.random.default_rng(number)
    centers = np.random.default_rng(0).standard_normal((5, columns)) * 2
    kind = rng.integers(5, size=rows)
    frame = pd.DataFrame(
        centers[kind] + rng.standard_normal((rows, columns)), columns=[f"x{j}" for j in range(columns)]
    )
    frame["id"] = np.arange(number * rows, (number + 1) * rows)
    label = np.full(rows, -1)
    if number == 0:
        label[:100] = kind[:100]
    frame["kind"] = label
    frame.to_parquet(path / f"{number:05d}.parquet", index=False)


def parquet(client, folder, rows, each):
    """A folder with so many rows, `each` to a file, made by the workers."""
    path = folder / f"{rows}-{each}"
    if not (path / "_SUCCESS").exists():
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        number = rows // each
        client.gather(client.map(part, [path] * number, range(number), [each] * number, pure=False))
        (path / "_SUCCESS").touch()
    return path


class Watch:
    """What happens within a block: seconds, growth of this process at its largest, bytes between processes, CPU."""

    def __init__(self, client):
        self.client, self.process = client, psutil.Process()

    @contextmanager
    def __call__(self):
        before, cpu = self.process.memory_info().rss, self.cpu()
        sent, most, ended = self.bytes_sent(), [before], []
        begun = time.perf_counter()

        def look():
            while not ended:
                most.append(self.process.memory_info().rss)
                time.sleep(0.05)

        looking = threading.Thread(target=look)
        looking.start()
        try:
            yield self
        finally:
            ended.append(True)
            looking.join()
            self.seconds = time.perf_counter() - begun
            self.growth = max(most) - before
            self.sent = self.bytes_sent() - sent
            self.core_seconds = self.cpu() - cpu

    def bytes_sent(self):
        """What the processes of this machine have sent to each other."""
        return psutil.net_io_counters(pernic=True)["lo"].bytes_sent

    def cpu(self):
        """Processor time of the workers and of this process."""
        own = self.process.cpu_times()
        return own.user + own.system + sum(self.client.run(cpu_seconds).values())


def cpu_seconds():
    times = psutil.Process().cpu_times()
    return times.user + times.system


def fitted(path, landmarks):
    """A model of the rows in a folder, with the labels that are there."""
    table = dd.read_parquet(path)
    return SemiKPCA(approx=landmarks).fit(table[[f"x{j}" for j in range(COLUMNS)]], table["kind"])


def label(model, path, out):
    """Write the labels of all rows, one file for each."""
    answer = model.predict(dd.read_parquet(path)[[f"x{j}" for j in range(COLUMNS)]])
    dd.from_dask_array(answer, columns="kind").to_frame().to_parquet(out, write_index=False)


def mb(number):
    return f"{number / 1e6:.0f} MB"


def line(what, found, target=""):
    print(f"{what:66} {found:>22}   {target}", flush=True)


def large(client, watch, folder, rows, each):
    """Fit and label many rows; (seconds of the fit, core seconds, model)."""
    path, out = parquet(client, folder, rows, each), folder / "labeled"
    full = rows == 10_000_000
    with watch():
        model = fitted(path, 200)
    name = f"{rows / 1e6:g} M × {COLUMNS}, r = 200, files of {each}"
    fit = watch.seconds, watch.core_seconds
    line(f"{name}: fit (core seconds)", f"{watch.seconds:.1f} s ({watch.core_seconds:.0f})", "≤ 60 s" if full else "")
    line("  client, network", f"+{mb(watch.growth)}, {mb(watch.sent)}", "≤ 150 MB")
    with watch():
        label(model, path, out)
    line(
        "  label to Parquet (core seconds)",
        f"{watch.seconds:.1f} s ({watch.core_seconds:.0f})",
        "≤ 30 s" if full else "",
    )
    line("  client, network", f"+{mb(watch.growth)}, {mb(watch.sent)}", "≤ 150 MB")
    shutil.rmtree(out)
    return *fit, watch.core_seconds, model, path


def compared_with_numpy(path, times, fit, answer):
    """Processor time next to that of NumPy, files included, on `path`, which has a fraction 1 / times of the rows."""
    begun = time.process_time()
    table = pd.read_parquet(path)
    X, y = table[[f"x{j}" for j in range(COLUMNS)]].to_numpy(), table["kind"].to_numpy()
    reading = time.process_time() - begun
    model = SemiKPCA(approx=200).fit(X, y)
    middle = time.process_time()
    pd.DataFrame({"kind": model.predict(X)}).to_parquet(path / "_numpy.parquet")
    own = middle - begun, time.process_time() - middle + reading
    line("  processor time of the fit compared with NumPy's", f"{fit / own[0] / times:.2f} ×", "≤ 2 ×")
    line("  processor time of labeling compared with NumPy's", f"{answer / own[1] / times:.2f} ×", "≤ 2 ×")


def many_chunks(watch, chunks=160, r=1000, rows=40_000):
    """The client's memory if every chunk has an r × r sum."""
    X = da.random.default_rng(0).standard_normal((rows, COLUMNS), chunks=(rows // chunks, COLUMNS))
    y = {i: i % 2 for i in range(40)}
    SemiKPCA(approx=r).fit(X[: 20 * rows // chunks], y)  # what is loaded once is loaded
    with watch():
        SemiKPCA(approx=r).fit(X, y)
    target = f"< {mb(50e6 + 3 * 8 * r**2)}"
    line(f"{chunks} chunks, r = {r}: client, network", f"+{mb(watch.growth)}, {mb(watch.sent)}", target)


def rates(d=100, r=1000, rows=20_000):
    """Rows per core second of the two block functions."""
    X = np.random.default_rng(0).standard_normal((rows, d))
    fitted_map = LandmarkMap(RBF(np.sqrt(d)), r).fit(X)
    begun = time.process_time()
    raw_moments((fitted_map, GROWTH), X, None)
    moments = rows / (time.process_time() - begun)
    model = SemiKPCA(kernel=RBF(np.sqrt(d)), approx=r).fit(X, np.where(np.arange(rows) < 40, np.arange(rows) % 2, -1))
    begun = time.process_time()
    model.predict(X)
    answers = rows / (time.process_time() - begun)
    line(f"moments, d = {d}, r = {r}", f"{moments / 1e3:.1f} k rows / core s", "13 k")
    line(f"labels, d = {d}, r = {r}", f"{answers / 1e3:.1f} k rows / core s", "27 k")
    seconds = 1e9 / (50 * 16) * (1 / moments + 1 / answers)
    line("10⁹ rows on 50 × 16 such cores: fit and label", f"{seconds / 60:.1f} minutes", "about 5")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="200,000 rows instead of --rows")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="2GB", help="of each worker")
    parser.add_argument("--data", type=Path, help="folder for the files; they are kept")
    options = parser.parse_args()
    rows = 200_000 if options.quick else options.rows
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    workers = {"n_workers": options.workers, "threads_per_worker": 1, "memory_limit": options.memory}
    with tempfile.TemporaryDirectory() as temporary, LocalCluster(**workers, dashboard_address=":0") as cluster:
        folder = options.data or Path(temporary)
        with Client(cluster) as client:
            watch = Watch(client)
            fitted(parquet(client, folder, 20_000, 10_000), 50)  # what is loaded once is loaded
            small = large(client, watch, folder, rows // 10, rows // 100)
            big = large(client, watch, folder, rows, rows // 100)
            compared_with_numpy(small[-1], 10, big[1], big[2])
            exponent = math.log10(big[0] / small[0])
            line(f"exponent of the time of a fit from {rows // 10} to {rows} rows", f"{exponent:.2f}", "≤ 1.1")
            large(client, watch, folder, rows, rows // 10)
            some = parquet(client, folder, rows // 5, rows // 50)
            with watch():
                model = fitted(some, "auto")
            name = f"{rows // 5} rows, default of {model.map_.rank_} landmarks: fit"
            line(name, f"{watch.seconds:.1f} s", "no worker ends")
            with watch():
                label(model, some, folder / "labeled")
            line("  label to Parquet", f"{watch.seconds:.1f} s")
            if options.quick:
                many_chunks(watch, 40, 300, 10_000)
            else:
                many_chunks(watch)
    rates(rows=5_000 if options.quick else 20_000)


if __name__ == "__main__":
    main()
