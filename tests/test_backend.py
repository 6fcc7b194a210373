"""Optional packages, devices, memory and threads."""

import os
import signal
import subprocess
import sys
import threading
from importlib.util import find_spec

import pytest
import threadpoolctl

from mercer import backend
from mercer.errors import BackendError

KINDS = (signal.SIGINT, signal.SIGTERM)


def test_a_missing_package_is_named_with_the_line_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # what Python itself does for a blocked import
    with pytest.raises(BackendError, match=r"needs the package 'torch'.*pip install '.\[gpu\]'"):
        backend.need("torch")
    assert backend.devices() == []
    monkeypatch.setitem(sys.modules, "dask.array", None)
    with pytest.raises(BackendError, match=r"'dask'.*\[dask\]"):
        backend.need("dask.array")


def test_devices_begin_with_the_cpu():
    assert backend.devices()[:1] == (["cpu"] if find_spec("torch") else [])


def test_memory_is_a_number_of_bytes():
    free = backend.memory_available()
    assert free is None or 0 <= free < 2**50
    assert backend.memory_available("cpu") == pytest.approx(free, rel=0.5)


def test_memory_refusal_says_both_numbers_and_the_remedy(monkeypatch):
    monkeypatch.setattr(backend, "memory_available", lambda device=None: 5_000_000)
    with pytest.raises(BackendError, match=r"The thing needs 20.0 GB and 5.0 MB are available. Buy more."):
        backend.require_memory(20_000_000_000, "The thing", "Buy more.")
    backend.require_memory(5_000_000, "The thing", "Buy more.")
    monkeypatch.setattr(backend, "memory_available", lambda device=None: None)
    backend.require_memory(10**18, "The thing", "Buy more.")  # unknown memory refuses nothing


def test_size():
    assert [backend.size(b) for b in (0, 999, 1000, 1.5e6, 20e9, 3e12)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "1.5 MB",
        "20.0 GB",
        "3000.0 GB",
    ]


@pytest.mark.parametrize("threads", [None, 1, 3, 50])
def test_parallel_does_every_task_once(threads):
    done, lock = [], threading.Lock()

    def task(i):
        with lock:
            done.append(i)

    backend.parallel(task, range(20), threads=threads)
    assert sorted(done) == list(range(20))
    backend.parallel(task, [], threads=threads)


def test_parallel_hands_on_errors():
    def task(i):
        raise KeyError(i)

    for threads in (1, 2):
        with pytest.raises(KeyError):
            backend.parallel(task, range(3), threads=threads)


def test_blas_threads_are_restored():
    before = backend.n_threads()
    with backend.blas_threads(1):
        assert backend.n_threads() == 1
    assert backend.n_threads() == before


def test_threads_follow_the_shape_of_the_product():
    assert backend.threads_for(50_000, 50_000, 8, 4) == 4  # thin ones are bound by memory, and two cores get more
    assert backend.threads_for(20, 100_000, 20, 4) == 1  # a long sum into a small result
    assert backend.threads_for(150, 20, 150, 4) == 1  # too little work
    assert backend.threads_for(2000, 2000, 2000, 4) == 4
    with backend.blas_threads(1):
        assert backend.threads_for(2000, 2000, 2000) == 1  # never more than the process may use


def test_a_small_result_is_pinned_and_the_setting_comes_back():
    with backend.blas_threads(2):
        before = backend.n_threads()
        with backend.blas_for(20, 5000, 20):
            assert backend.n_threads() == 1
        assert backend.n_threads() == before
        with backend.blas_for(2000, 2000, 2000):
            assert backend.n_threads() == before


def test_a_limit_on_the_process_counts_as_memory_that_is_not_there():
    code = "import resource; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30)); "
    code += "from mercer.backend import memory_available; print(memory_available())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ)
    assert 0 < int(done.stdout) < 3 << 30, done.stderr


@pytest.mark.parametrize("dropped", [(), (signal.SIGINT,)])
def test_signals_wait_until_the_context_is_left_or_are_dropped(dropped):
    came = []
    handlers = {number: signal.signal(number, lambda number, _: came.append(number)) for number in KINDS}
    try:
        with backend.uninterrupted(dropped):
            for number in KINDS:
                signal.raise_signal(number)
            assert came == []
        assert came == [number for number in KINDS if number not in dropped]
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def test_threads_are_no_more_than_the_cores_that_are_allowed_and_idle(tmp_path, monkeypatch):
    file = tmp_path / "cpu.max"
    file.write_text("250000 100000")
    assert backend.quota(str(file)) == 2
    (tmp_path / "free").write_text("max 100000")
    assert backend.quota(str(tmp_path / "free")) == backend.quota("/nowhere") == float("inf")
    monkeypatch.setattr(backend, "quota", lambda: 0.5)  # less than one core is still one thread
    assert backend.cores() == backend.idle_cores() == backend.n_threads() == 1
    monkeypatch.undo()
    assert 1 <= backend.idle_cores() <= backend.cores()


def test_a_pool_inside_a_pool_has_no_threads_of_its_own():
    seen = []

    def outer(task):
        backend.parallel(lambda inner: seen.append((task, inner, threading.get_ident())), range(4), threads=4)

    backend.parallel(outer, range(3), threads=3)
    assert sorted(pair[:2] for pair in seen) == [(i, j) for i in range(3) for j in range(4)]
    for task in range(3):
        assert len({thread for one, _, thread in seen if one == task}) == 1


def test_a_steady_context_leaves_the_threads_to_pools():
    allowed = backend.n_threads()
    with backend.single_threaded_blas(), backend.single_threaded_blas():
        assert backend.n_threads() == allowed
        pools = [pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
        assert set(pools) == {1}
        inside = []
        backend.parallel(lambda task: inside.append(backend.n_threads()), range(4), threads=2)
        assert set(inside) == {1}  # a pool inside has none
    assert backend.n_threads() == allowed
