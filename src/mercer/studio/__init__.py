"""Label rows in a notebook. The web app of `mercer studio` is shown in the output of a cell.

This package is the app, its server and its learner. Called, it is the function `mercer.studio` of `notebook.py`.
"""

import sys
import types


class _Callable(types.ModuleType):
    """This module is also the function `mercer.studio`, whichever of the two is imported first."""

    def __call__(self, *data, **options):
        from .notebook import studio

        return studio(*data, **options)


sys.modules[__name__].__class__ = _Callable
