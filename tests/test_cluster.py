"""A real cluster of two processes. A lost worker or scheduler changes nothing, and little data is sent."""

import os
import signal
import sys
import threading
import time

import cloudpickle
import dask
import dask.array as da
import numpy as np
import pandas as pd
import psutil
import pytest
from distributed import Client, LocalCluster
from sklearn.datasets import make_blobs

from cli.command import here, installed
from mercer import FewLabelClassifier, KernelDensityNovelty, SemiKPCA
from mercer.errors import BackendError
from mercer.jobs.parts import Cluster, Threads, cells, workplace

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the workers do not see the tests
N = 6000


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "2GB", "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        client.wait_for_workers(2)
        yield client


@pytest.fixture(scope="module")
def data():
    X, t = make_blobs(N, centers=3, n_features=4, cluster_std=1.5, random_state=0)
    y = np.full(N, -1)
    rows = np.random.default_rng(0).choice(N, 24, replace=False)
    y[rows] = t[rows]
    return X, t, y


def slow(block):
    time.sleep(0.1)
    return block


def whole_again(client):
    """Wait for the second worker. Dask now and then gives up on one that was killed, and another replaces it."""
    try:
        client.wait_for_workers(2, timeout=60)
    except TimeoutError:
        client.cluster.scale(3)
        client.wait_for_workers(2, timeout=60)


def kill_one(client, after):
    """End one worker after so many seconds, as a machine that fails does."""
    pids = list(client.run(os.getpid).values())
    killer = threading.Timer(after, os.kill, [pids[0], signal.SIGKILL])
    killer.start()
    return killer, set(pids)


def test_a_worker_lost_in_a_fit_or_in_an_answer_changes_no_bit(client, data):
    X, _, y = data
    rows = da.from_array(X, chunks=(250, 4)).map_blocks(slow)
    calm = SemiKPCA(approx=50).fit(rows, y)
    answer = calm.decision_function(rows).compute()
    np.testing.assert_allclose(answer, SemiKPCA(approx=50).fit(X, y).decision_function(X), rtol=0, atol=1e-12)
    killer, before = kill_one(client, 0.8)
    hurt = SemiKPCA(approx=50).fit(rows, y)
    killer.join()
    whole_again(client)
    assert set(client.run(os.getpid).values()) != before  # one was lost indeed
    np.testing.assert_array_equal(hurt.coef_, calm.coef_)
    killer, _ = kill_one(client, 0.4)
    np.testing.assert_array_equal(hurt.decision_function(rows).compute(), answer)
    killer.join()
    whole_again(client)


def test_the_client_does_not_grow_with_the_number_of_chunks(client, data):
    X, _, y = data
    r, process = 300, psutil.Process()
    SemiKPCA(approx=r).fit(da.from_array(X, chunks=(3000, 4)), y)  # what is loaded once is loaded
    before = process.memory_info().rss
    model = SemiKPCA(approx=r).fit(da.from_array(X, chunks=(40, 4)), y)  # the sums of 150 chunks take 108 MB
    assert process.memory_info().rss - before < 50e6 + 3 * 8 * r**2
    whole = len(cloudpickle.dumps(model))
    rows = da.from_array(X, chunks=(40, 4))
    for answer in (model.predict(rows), model.predict_proba(rows)):
        graph = cloudpickle.dumps(dict(dask.optimize(answer)[0].__dask_graph__()))
        assert len(graph) < X.nbytes + whole + 1e6  # the model is in it once, not 150 times


def test_a_novelty_model_and_few_labels_answer_on_the_workers(client, data):
    X, t, y = data
    rows = da.from_array(X, chunks=(500, 4))
    here, there = (KernelDensityNovelty(approx=50).fit(A) for A in (X, rows))
    np.testing.assert_allclose(there.score_samples(rows).compute(), here.score_samples(X), atol=1e-9)
    model = FewLabelClassifier(["lssvm"]).fit(rows, da.from_array(y, chunks=700))
    answer = model.predict(rows)
    assert (
        len(cloudpickle.dumps(dict(answer.__dask_graph__()))) < X.nbytes + 8e6
    )  # without the spaces of its candidates
    assert np.mean(answer.compute() == t) > 0.8


def test_a_lost_worker_labels_no_row_twice_and_a_lost_scheduler_is_said_in_a_sentence(client, data, tmp_path):
    for number in range(12):
        pd.DataFrame({"id": range(10 * number, 10 * number + 10)}).to_parquet(tmp_path / f"{number:02d}.parquet")
    tasks = [(path, None, None, None, {}) for path in sorted(tmp_path.glob("*.parquet"))]
    wanted = sorted(Threads().each(cells_slowly, tasks), key=lambda one: one[0])
    killer, _ = kill_one(client, 0.3)
    place = Cluster(client, "here")
    found = sorted(place.each(cells_slowly, tasks), key=lambda one: one[0])
    killer.join()
    assert [(n, answer[0]) for n, answer in found] == [(n, answer[0]) for n, answer in wanted]
    said = pytest.raises(BackendError, match="was lost. Finished parts are kept. Run the same command again")
    lost = LocalCluster(1, threads_per_worker=1, processes=False, dashboard_address=":0")
    with lost, said, workplace(lost.scheduler_address) as place:
        for done, _ in enumerate(place.each(cells_slowly, tasks)):
            if done == 1:
                lost.sync(lost.scheduler.close)


def cells_slowly(*task):
    time.sleep(0.1)
    return cells(*task)


def test_a_worker_lost_while_a_folder_is_labeled_changes_no_byte(client, data, tmp_path):
    X, t, y = data
    (tmp_path / "in").mkdir()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(row=np.arange(N), kind=np.where(y >= 0, y.astype(str), None))
    for number, rows in enumerate(np.array_split(np.arange(N), 60)):
        frame.iloc[rows].to_parquet(tmp_path / "in" / f"{number:02d}.parquet")
    ask = ["label", tmp_path / "in", "-t", "kind", "-x", "row", "--method", "lssvm"]
    assert here(*ask, "-o", tmp_path / "calm").exit_code == 0
    before = list(client.run(os.getpid).values())

    def kill():
        while len(list((tmp_path / "shaken").glob("*.parquet"))) < 3:
            time.sleep(0.01)
        os.kill(before[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    done = installed(*ask, "-o", tmp_path / "shaken", "--scheduler", client.scheduler.address, cwd=tmp_path)
    killer.join()
    assert done.returncode == 0, done.stderr
    whole_again(client)
    assert set(client.run(os.getpid).values()) != set(before)  # one was lost, and has a successor
    parts = sorted((tmp_path / "calm").glob("*.parquet"))
    assert len(parts) == 60
    for path in parts:
        assert path.read_bytes() == (tmp_path / "shaken" / path.name).read_bytes()
    written = pd.concat([pd.read_parquet(path) for path in sorted((tmp_path / "shaken").glob("*.parquet"))])
    assert sorted(written["row"]) == list(range(N))
    assert np.mean(written["kind_predicted"].astype(int).to_numpy() == t[written["row"]]) > 0.85
