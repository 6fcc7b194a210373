"""The classes that a file may contain, and their names in a file.

A name stays when its class moves to another module. A file cannot cause other imports than the modules below and those
of `mercer.exports`.
"""

import importlib
from typing import TypeVar

from .. import exports
from ..errors import InputError

# Module of this package → the classes that models contain and users do not import from `mercer`
INTERNAL = {
    "homes.objects": "Objects",
    "inputs.labels": "Labels",
    "inputs.tables": "TableClassifier TableRegressor Column",
    "inputs.tables.kinds": "Number Category Ordered Date Vectors",
    "inputs.tables.text": "Text",
    "inputs.tables.names": "Names",
    "inputs.tables.images": "Picture",
    "inputs.tables.vectors": "Both Embedded",
    "graphs.given": "KnownRows",
    "graphs.neighbors": "Neighbors",
    "kernels": "Sum Product Scaled",
    "kernels.forest": "Nodes",
    "geometry.maps.graph": "GraphMap",
    "geometry.maps.row": "RowMap",
    "geometry.expansion": "Expansion",
    "solvers.result": "Result",
    "few_label.views": "AsGiven Standardized HingeColumns UnitNorm LeadingComponents OrdinalColumns",
    "few_label.kernel_rows": "KernelRows",
    "few_label.rows": "Support",
    "few_label.predictor": "Predictor MeanPredictor GraphPart KernelPart KnownPart",
    "few_label.candidates.forest": "ForestPart Trees",
    "few_label.candidates.own": "OwnPart OwnClassifier",
    "few_label.library": "Library",
    "few_label.fit": "Fit Kept",
    "few_label.answers": "Answers NumberAnswers",
    "few_label.dask_sample": "DaskSample",
    "few_label.weights": "Pool",
    "few_label.hints": "Guesses Likelihood",
    "few_label.hint_inputs": "Hints",
    "few_label.tasks.classes": "Classes Calibration",
    "few_label.tasks.numbers": "Numbers NumberPool",
    "few_label.squared_error": "Accuracy",
    "evidence.accuracy": "Estimate Rate",
    "evidence.conformal": "Reference",
    "estimators.outlier_parts": "Ranks OutlierView Near Tails",
    "estimators.outlier_forest": "IsolationTrees",
    "estimators.outlier_answers": "Answered",
    "few_label.summary": "Report",
    "few_label.targets": "Targets",
    "few_label.number_report": "NumberReport",
}
SKLEARN = {
    "preprocessing": "StandardScaler MinMaxScaler MaxAbsScaler RobustScaler Normalizer OneHotEncoder OrdinalEncoder "
    "LabelEncoder",
    "impute": "SimpleImputer",
    "compose": "ColumnTransformer",
    "pipeline": "Pipeline",
    "decomposition": "PCA TruncatedSVD",
}
_HOMES = {name: f"mercer.{home}" for home, names in INTERNAL.items() for name in names.split()} | {
    f"sklearn.{name}": f"sklearn.{home}" for home, names in SKLEARN.items() for name in names.split()
}
_users: dict[str, type] = {}

AnyClass = TypeVar("AnyClass", bound=type)


def register(cls: AnyClass) -> AnyClass:
    """Allow models with objects of your own class, such as a kernel, to be saved and loaded. A class decorator.

    The file calls the class "user." and its name. Call `register` before loading, too, because a file cannot import
    your module. The attributes of an object are saved and set again. Its constructor is not called.

    Parameters
    ----------
    cls : type
        The class.

    Examples
    --------
    >>> import mercer
    >>> @mercer.register
    ... class Ratio(mercer.Polynomial):
    ...     pass
    """
    if not isinstance(cls, type):
        raise InputError(f"register takes a class, not {cls!r}. Pass the class of your kernel or estimator.")
    if class_name(cls) is None:
        other = _users.get(f"user.{cls.__name__}", cls)
        if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):  # else it was defined again
            raise InputError(f"{other!r} is registered by the name {cls.__name__!r} already. Rename your class.")
        _users[f"user.{cls.__name__}"] = cls
    return cls


def class_name(cls: type) -> str | None:
    """The name of a class in files. None for a class that no file may contain."""
    for name in (cls.__name__, f"sklearn.{cls.__name__}", f"user.{cls.__name__}"):
        if class_named(name) is cls:
            return name
    return None


def class_named(name: str) -> type | None:
    """The class with this name in files. None if there is none."""
    if name in _users:
        return _users[name]
    home = f"mercer.{exports[name]}" if name in exports else _HOMES.get(name)
    if home is None:
        return None
    found = getattr(importlib.import_module(home), name.removeprefix("sklearn."))
    return found if isinstance(found, type) and not issubclass(found, BaseException) else None
