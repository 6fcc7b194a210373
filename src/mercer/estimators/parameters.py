"""Constructor parameters with a default and constraints.

An estimator is a dataclass whose fields are its parameters. With ``lam: float = parameter(0.01, POSITIVE)`` `fit`
refuses everything except numbers above 0. A field without `parameter` is checked when it is used.
"""

from dataclasses import field
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, Options

COUNT = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
THREADS = Options(Integral, {-1})
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")


def parameter(default: Any, *accepted: Any) -> Any:
    """A field with this default. `accepted` are constraints of scikit-learn's parameter validation."""
    return field(default=default, metadata={"accepted": list(accepted)})
