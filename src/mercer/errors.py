"""The four error and warning types.

Every message shows what is wrong, what is accepted, and what to do.
"""

from sklearn.exceptions import ConvergenceWarning


class InputError(ValueError):
    """The data or a parameter cannot be used as given."""


class NotInductiveError(RuntimeError):
    """The fitted model cannot predict for rows that were not in the fit."""


class BackendError(RuntimeError):
    """A package, a device or the memory that the request needs is not available."""


class NotConverged(ConvergenceWarning):
    """A solver stopped before its certificate fell below the tolerance."""
