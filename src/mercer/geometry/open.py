"""The only "auto": which map a method gets when the user did not say."""

import numbers

from sklearn.base import clone

from ..backend import home, memory_available, size
from ..errors import InputError
from ..kernels import as_kernel
from .maps.base import FeatureMap
from .maps.graph import GraphMap
from .maps.landmark import LandmarkMap

EXACT_ROWS = 3000  # up to here an exact factor and an r × r eigendecomposition take a few seconds on two cores
LANDMARKS = 1000


def choose(kernel, approx, X, random_state=0, exact_rows=EXACT_ROWS, landmarks=LANDMARKS, stored=True):
    """An unfitted map for `approx`, and the reason as a sentence.

    Parameters
    ----------
    kernel : kernel object or name.
    approx : "auto", "exact", a number of landmarks, or a map (its own kernel is replaced by `kernel`).
    X : the training rows; only their number, type and home are looked at.
    exact_rows, landmarks : for "auto": the most rows whose kernel is taken exactly, and the landmarks above that.
    stored : whether the features of host rows will be; there are then no more of them than a quarter of the memory
        has room for.
    """
    n = X.shape[0]
    if as_kernel(kernel).transductive:
        return GraphMap(kernel, approx, random_state), "The kernel has a graph over the training rows in it."
    if isinstance(approx, FeatureMap):
        chosen = clone(approx).set_params(kernel=kernel)
        return chosen, f"You gave the map {type(approx).__name__}."
    if isinstance(approx, str) and approx == "exact":
        return LandmarkMap(kernel), "You asked for the exact kernel."
    if isinstance(approx, numbers.Integral) and not isinstance(approx, bool) and int(approx) >= 1:
        return LandmarkMap(kernel, int(approx), random_state=random_state), f"You asked for {approx} landmarks."
    if not (isinstance(approx, str) and approx == "auto"):
        raise InputError(
            f"approx={approx!r} is not accepted: give 'auto', 'exact', a number of landmarks, "
            "or a map such as FourierMap()."
        )
    if kernel == "precomputed" or type(kernel).__name__ == "Precomputed":
        return LandmarkMap(kernel), "A precomputed kernel is used exactly."
    if n <= exact_rows and home(X) != "dask":
        return LandmarkMap(kernel), f"{n} rows are few enough for the exact kernel (limit {exact_rows})."
    if home(X) == "dask":
        reason = f"The rows of a Dask array are mapped block by block, through {min(n, landmarks)} landmarks."
        return LandmarkMap(kernel, landmarks, random_state=random_state), reason
    itemsize, number = X.dtype.itemsize, landmarks
    need = "are taken, and their features are never stored"
    if stored or home(X) != "numpy":
        free = memory_available(X.device if home(X) == "torch" else None)
        number = landmarks if free is None else max(50, min(landmarks, int(0.25 * free / (n * itemsize))))
        need = f"need {size(n * number * itemsize)}"
    reason = (
        f"{n} rows are too many for the exact kernel by default (it may need {size(n * n * itemsize)}); "
        f"{number} landmarks {need}. approx='exact' or another number overrides this."
    )
    return LandmarkMap(kernel, number, random_state=random_state), reason
