"""The four error and warning types.

Every message shows what is wrong with this value, what is accepted, and what to do.
"""

from sklearn.exceptions import ConvergenceWarning


class InputError(ValueError):
    """The data or a parameter cannot be used as given."""


class NotInductiveError(RuntimeError):
    """The fitted model cannot answer for rows it has not seen."""


class BackendError(RuntimeError):
    """A package, a device or the memory that the request needs is not there."""


class NotConverged(ConvergenceWarning):
    """A solver stopped before its certificate fell below the tolerance."""
