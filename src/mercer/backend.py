"""Everything that depends on the machine, namely optional packages, devices, memory and threads."""

import contextlib
import contextvars
import functools
import importlib
import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from .errors import BackendError

if TYPE_CHECKING:
    from .types import Rows

Task = TypeVar("Task")

_EXTRA = {  # package → the extra of mercer that installs it
    **dict.fromkeys(("torch", "triton"), "gpu"),
    **dict.fromkeys(("dask", "dask.array", "distributed"), "dask"),
    **dict.fromkeys(("starlette", "uvicorn"), "studio"),
    **dict.fromkeys(("onnx", "onnx.helper", "onnx.numpy_helper", "onnx.checker", "skactiveml", "pyod"), "bridges"),
}


def need(name: str) -> ModuleType:
    """Import an optional package, or show the pip command that installs it."""
    try:
        return importlib.import_module(name)  # waits for another thread that is importing it
    except ImportError as error:
        extra = _EXTRA.get(name, "cli")
        raise BackendError(
            f"This needs the package {name.split('.')[0]!r}, which is not installed. "
            f"Install it with: pip install '.[{extra}]' in the folder of mercer's source"
        ) from error


@contextlib.contextmanager
def uninterrupted(dropped=()):
    """Context (and decorator) that delays SIGINT (Ctrl-C) and SIGTERM until its end, or drops those in `dropped`.

    Only the main thread is ever interrupted by a signal. In other threads this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [(number, signal.signal(number, lambda which, _: came.append(which))) for number in numbers]
    try:
        yield
    finally:
        for number, handler in reversed(before):
            signal.signal(number, handler or signal.SIG_DFL)
        for which in came:
            if which not in dropped:
                signal.raise_signal(which)


def devices():
    """Names of the devices torch can use, "cpu" first. Empty when torch is not installed."""
    try:
        torch = need("torch")
    except BackendError:
        return []
    return ["cpu"] + [f"cuda:{i}" for i in range(torch.cuda.device_count())]


def on_gpu(X):
    """Whether an array is on a CUDA device."""
    return str(getattr(X, "device", "")).startswith("cuda")


def to_device(X, device="cuda", dtype="float32"):
    """Copy rows to a device as a tensor, so that an estimator that is given the tensor runs there.

    NumPy rows, float64 rows and CPU tensors are converted to float32, which the fused GPU products need. For a float64
    tensor that is not converted, an estimator takes the slower exact path.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    device : str, default="cuda"
        Name of a device of PyTorch.
    dtype : {"float32", "float64"}, default="float32"
        Type of the numbers.

    Returns
    -------
    torch.Tensor
    """
    torch, target = _check_device(device)
    dtype = getattr(torch, dtype)
    n_bytes = dtype.itemsize * int(np.prod(X.shape))
    if target.type == "cuda":
        require_memory(
            n_bytes, f"A copy of {X.shape[0]} × {X.shape[1]} rows", "Use fewer rows.", memory_available(target)
        )
    return torch.as_tensor(X).to(target, dtype).contiguous()


_device: contextvars.ContextVar[tuple[str, str] | None] = contextvars.ContextVar("device", default=None)


@contextlib.contextmanager
def use_device(device="cuda", dtype="float32"):
    """Context in which NumPy rows given to an estimator run on a device, inside pipelines and grid searches too.

    Each call of an estimator copies its dense rows there, see `to_device`. Sparse rows stay on the host, and so do
    fitted models and predictions. The setting belongs to the thread that entered the context.

    Parameters
    ----------
    device : str, default="cuda"
        Name of a device of PyTorch.
    dtype : {"float32", "float64"}, default="float32"
        Type of the numbers. "float64" is more exact and slower.

    >>> import mercer
    >>> with mercer.use_device("cpu"):
    ...     model = mercer.KernelPCA(1, kernel="linear").fit([[0.0], [1.0], [3.0]])
    """
    _check_device(device)
    before = _device.set((device, dtype))
    try:
        yield
    finally:
        _device.reset(before)


def device_in_use() -> tuple[str, str] | None:
    """(device, dtype) of the innermost `use_device`, for ``use_device(*device_in_use())`` later. None outside of it."""
    return _device.get()


def moved(X: "Rows") -> "Rows":
    """Dense NumPy rows on the device of `use_device`. Other rows, or all rows without a device, are left unchanged."""
    device = _device.get()
    return X if device is None or not isinstance(X, np.ndarray) else to_device(X, *device)


def _check_device(device):
    torch = need("torch")
    try:
        target = torch.device(device)
    except (RuntimeError, TypeError):
        raise BackendError(f"device={device!r} is not known to torch. Accepted: 'cuda', 'cuda:1', 'cpu'.") from None
    if target.type == "cuda" and not torch.cuda.is_available():
        raise BackendError(
            f"device={device!r} is not available, because torch finds no GPU. Use device='cpu', or leave the rows in "
            "NumPy."
        )
    return torch, target


def memory_available(device: object = None) -> int | None:
    """Bytes that can still be allocated on the host (or on a CUDA device). None if unknown."""
    if device is not None and str(device).startswith("cuda"):
        return need("torch").cuda.mem_get_info(device)[0]
    found = []
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        found.append(1024 * int(next(line for line in lines if line.startswith("MemAvailable")).split()[1]))
    with contextlib.suppress(OSError, ValueError):  # a container may be allowed less than the machine has
        group = Path("/sys/fs/cgroup")
        found.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    with contextlib.suppress(ImportError, OSError, ValueError):  # a process may be allowed less than its user (ulimit)
        resource = importlib.import_module("resource")
        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            found.append(most - int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize())
    if not found:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            found.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return max(min(found), 0) if found else None


def size(n_bytes):
    """Format a number of bytes for a person.

    >>> size(20_000_000_000)
    '20.0 GB'
    """
    for unit in ("B", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.0f} {unit}" if unit == "B" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.1f} GB"


def require_memory(n_bytes, what, remedy, free=None):
    """Raise `BackendError` for an allocation that cannot fit. `free` is the available memory, the host's by default."""
    free = memory_available() if free is None else free
    if free is not None and n_bytes > free:
        raise BackendError(f"{what} needs {size(n_bytes)} and {size(free)} are available. {remedy}")


_controller = None


def cores():
    """Number of cores this process may use, from its affinity and the quota of its control group."""
    count = getattr(os, "process_cpu_count", None)  # from Python 3.13 on
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    allowed = (count() or 1) if count else allowed
    return max(1, min(allowed, quota()))


@functools.cache
def quota(file="/sys/fs/cgroup/cpu.max"):
    """Number of cores the control group of this process may use at once. Infinity if there is no limit."""
    with contextlib.suppress(OSError, ValueError):
        most, period = Path(file).read_text().split()
        return int(most) // int(period)  # "max" is not a number
    return float("inf")


def idle_cores():
    """Number of these cores that no other task uses now, at least 1. More threads would slow each other down."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        running = int(Path("/proc/loadavg").read_text().split()[3].split("/")[0])  # this task is one of them
        return max(1, min(cores(), (os.cpu_count() or 1) - running + 1))
    return cores()


def n_threads() -> int:
    """Number of threads this process may use. It is the number of allowed cores, or of BLAS threads if smaller."""
    if known := _threads_before.get():
        return known
    return max(1, min([cores()] + [pool["num_threads"] for pool in _pools().info() if pool["user_api"] == "blas"]))


def threads_for(m, k, n, available=None):
    """BLAS threads for the product of an m × k and a k × n matrix, decided by its shape here and nowhere else.

    BLAS does not divide a long sum into a small result among threads. It divides thin products, which gain what memory
    allows if no other process needs the cores. Measured by ``python -m benchmarks.scoreboard --parts threads``. Code
    with its own threads (`parallel`, the Krylov solver) limits BLAS to one, because the two kinds slow each other down.
    """
    # Neither a result with no side above 128 nor less work than 1e6 gains from threads (see the table of
    # docs/scoreboard.md).
    if max(m, n) <= 128 or 2.0 * m * k * n < 1e6:
        return 1
    return n_threads() if available is None else available


def blas_for(m, k, n):
    """Context in which BLAS uses the best number of threads for a product of this shape, never more than before."""
    wanted = threads_for(m, k, n)
    return contextlib.nullcontext() if n_threads() <= wanted else blas_threads(wanted)


def parallel(function: Callable[[Task], object], tasks: Sequence[Task], threads: int | None = None) -> None:
    """Call function on every task from several threads. This is fast because NumPy releases the GIL in its loops.

    There are no more threads than idle cores. A call from within such a thread starts no further threads.
    """
    most = min(threads or n_threads(), len(tasks))
    threads = min(most, idle_cores()) if most > 1 and not threads else most  # counting idle cores takes a while
    if threads <= 1 or not _one_pool.acquire(blocking=False):
        for task in tasks:
            function(task)
        return
    context = contextvars.copy_context()  # so that `use_device` applies in the threads too
    context.run(_threads_before.set, 1)
    try:
        with one_thread(), ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(lambda task: context.copy().run(function, task), tasks):
                pass
    finally:
        _one_pool.release()


_threads_before: contextvars.ContextVar[int | None] = contextvars.ContextVar("single_threaded_blas", default=None)


@contextlib.contextmanager
def single_threaded_blas():
    """Context in which BLAS has one thread, and `parallel` as many as both had before.

    Results have the same digits on an idle and on a busy machine. On a busy machine BLAS's threads would compete for
    the cores, whereas `parallel` distributes whole tasks among the idle ones.
    """
    before = _threads_before.set(n_threads())
    try:
        with one_thread():
            yield
    finally:
        _threads_before.reset(before)


@contextlib.contextmanager
def one_thread():
    """Context of one task among several. BLAS uses one thread until the last of them has ended."""
    own = object()
    try:
        with _tasks.lock:
            _tasks.running.add(own)
            if _tasks.before is None:
                _tasks.before = [(library, library.get_num_threads()) for library in _blas()]
                _set_threads((library, 1) for library, _ in _tasks.before)
        yield
    finally:
        try:
            _end(own)
        except KeyboardInterrupt:  # a second call has no further effect
            _end(own)
            raise


def _end(own):
    with _tasks.lock:
        _tasks.running.discard(own)
        if not _tasks.running and _tasks.before is not None:
            _set_threads(_tasks.before)
            _tasks.before = None


def _set_threads(numbers):
    for library, number in numbers:
        library.set_num_threads(number)


_one_pool = threading.Lock()
_tasks = SimpleNamespace(lock=threading.Lock(), running=set(), before=None)


def _pools():
    global _controller
    if _controller is None:
        _controller = ThreadpoolController()
    return _controller


def _blas():
    return [library for library in _pools().lib_controllers if library.user_api == "blas"]


def blas_threads(n):
    """Context in which BLAS uses at most n threads (the thread pools are found once)."""
    return _pools().limit(limits=n, user_api="blas")
