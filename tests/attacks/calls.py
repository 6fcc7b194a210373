"""Attack the library with degenerate rows, labels, weights and kernels and legal parameters of every public class."""

import copy
import functools
import inspect
import os
import random
import traceback
import warnings
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import InvalidParameterError, make_constraint

import mercer
from mercer.errors import BackendError, InputError, NotInductiveError
from mercer.kernels import Kernel

from . import rows

SHOWN = False
REFUSED = (InputError, BackendError, NotInductiveError, InvalidParameterError)
OUTPUTS = ("transform", "predict", "predict_proba", "decision_function", "score_samples", "outlier_probability")
OUTPUTS += ("inverse_transform",)


def attack(seed, folder):
    """One call of one class, with fit, predictions and a saved file."""
    R = random.Random(seed)
    _, cls = R.choice(_classes())
    X, rng = rows.matrix(R)
    before = copy.deepcopy(X)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            if issubclass(cls, Kernel):
                _kernel(R, cls, X)
            else:
                _estimator(R, rng, cls, X, folder)
        except REFUSED as error:
            sentence = str(error)
            ours = type(error) is not InvalidParameterError
            assert not ours or len(sentence) <= 300, f"{len(sentence)} characters: {sentence}"
            return "refused"
        except (ValueError, TypeError) as error:
            last = traceback.extract_tb(error.__traceback__)[-1].filename
            if "sklearn/utils" not in last:  # messages of scikit-learn's own check of rows
                raise
            return "refused"
    ours = os.path.dirname(mercer.__file__)
    loud = [one for one in heard if issubclass(one.category, RuntimeWarning) and one.filename.startswith(ours)]
    assert not loud, f"{loud[0].filename}:{loud[0].lineno}: {loud[0].message}" if loud else ""
    assert rows.equal(before, X), "the rows that were given were changed"
    return "answered"


@functools.cache
def _classes():
    found = [(name, getattr(mercer, name)) for name in mercer.__all__]
    found = [(name, cls) for name, cls in found if inspect.isclass(cls) and name not in ("Kernel", "TableEncoder")]
    estimators = [(name, cls) for name, cls in found if issubclass(cls, BaseEstimator) and hasattr(cls, "fit")]
    kernels = [
        (name, cls) for name, cls in found if issubclass(cls, Kernel) and name not in ("Callable", "Precomputed")
    ]
    slow = ("FewLabelClassifier", "FewLabelRegressor")
    return (
        2 * [one for one in estimators if one[0] not in slow] + [one for one in estimators if one[0] in slow] + kernels
    )


def _estimator(R, rng, cls, X, folder):
    model, n = cls(), rows.length(X)
    parameters = {name: _value(R, accepted) for name, accepted in _accepted(model).items() if R.random() < 0.3}
    parameters = {name: value for name, value in parameters.items() if value is not _NOTHING}
    known = model.get_params(deep=False)
    if "n_restarts" in known:
        parameters["n_restarts"] = R.choice([1, 3])
    if "time_budget" in known:
        parameters["time_budget"] = 1.0
    if "random_state" in known:
        parameters["random_state"] = R.choice([0, 7])
    if "kernel" in known and R.random() < 0.7:
        parameters["kernel"], X = rows.kernel(R, rng, X)
    if "approx" in known and R.random() < 0.4:
        parameters["approx"] = R.choice(["exact", 1, 2, 5, 1000, "auto"])
    if "landmarks" in known and R.random() < 0.5:
        parameters |= {"landmarks": R.choice([1, 3, 1000]), "choice": R.choice(["pivoted", "uniform", "leverage"])}
    if "methods" in known:
        parameters["methods"] = R.choice(["auto", ["lssvm"], ["rls"], ["diffusion"], ["forest"], ["s2rls"], ["sgt"]])
    if SHOWN:
        print(cls.__name__, parameters, repr(X)[:600])
    model.set_params(**parameters)
    told = repr(model.get_params(deep=False))
    arguments = {}
    takes = inspect.signature(cls.fit).parameters
    if "y" in takes:
        arguments["y"] = rows.numbers(R, rng, n) if cls.__name__.endswith("Regressor") else rows.labels(R, n)
    if "sample_weight" in takes and R.random() < 0.3:
        arguments["sample_weight"] = rows.weights(R, rng, n)
    if SHOWN:
        print(arguments)
    model.fit(X, **arguments)
    assert repr(model.get_params(deep=False)) == told, "a parameter was changed by fit"
    answers = {}
    for name in OUTPUTS:
        if not hasattr(model, name) or (name == "inverse_transform" and not model.fit_inverse_transform):
            continue
        given = X if name != "inverse_transform" else answers["transform"]
        answers[name] = answer = np.asarray(getattr(model, name)(given))
        assert len(answer) == n, f"{name} answers for {len(answer)} of {n} rows"
        if name == "transform" and hasattr(model, "empty_"):
            answer = answer[:, ~model.empty_]  # no row is near a cluster without rows
        if answer.dtype.kind in "fc" and not (name == "predict" and getattr(model, "abstain", None)):
            assert np.isfinite(answer).all(), f"{name} holds {answer[~np.isfinite(answer)][:1]}"
    if "predict_proba" in answers:
        P = answers["predict_proba"]
        assert (P >= 0).all() and np.allclose(P.sum(axis=1), 1), f"probabilities sum to {P.sum(axis=1)[:3]}"
    if R.random() < 0.2 and not callable(parameters.get("kernel")):
        _saved(model, X, answers, folder)


def _saved(model, X, answers, folder):
    mercer.save(model, folder / "m.mercer")
    back = mercer.load(folder / "m.mercer")
    for name, answer in answers.items():
        if name != "inverse_transform":
            np.testing.assert_array_equal(np.asarray(getattr(back, name)(X)), answer)


def _kernel(R, cls, X):
    kernel = cls()
    names = [name for name in kernel.get_params() if name in ("bandwidth", "gamma", "offset", "scale", "time")]
    for name in names:
        if R.random() < 0.5:
            rules = ["median", "knn", "scale", "range", "scott"] if name == "bandwidth" else [0.0, 1e-300, 1e20]
            kernel.set_params(**{name: R.choice([*rules, 1.0, 2, 1e-5])})
    if SHOWN:
        print(kernel, repr(X)[:600])
    X = rows.plain(X)  # kernels are given rows that an estimator has checked
    K = np.asarray(kernel.resolve(X)(X))
    assert K.shape == (len(X), len(X)), f"a kernel matrix of shape {K.shape}"
    assert np.isfinite(K).all(), f"the kernel matrix holds {K[~np.isfinite(K)][:1]}"
    assert np.allclose(K, K.T, rtol=1e-6), "the kernel matrix is not symmetric"


_NOTHING = object()


def _accepted(model):
    found = getattr(model, "_parameter_constraints", None) or {}
    return {
        name: accepted
        for name, accepted in found.items()
        if accepted != "no_validation" and name not in ("verbose", "n_jobs")
    }


def _value(R, accepted):
    """A legal value, from the constraints of scikit-learn's validation of parameters."""
    constraint = make_constraint(R.choice(accepted))
    if constraint.is_satisfied_by(None) and R.random() < 0.5:
        return None
    if hasattr(constraint, "options"):
        return R.choice(sorted(constraint.options, key=str))
    if hasattr(constraint, "left"):
        left = 0 if constraint.left is None or constraint.left < -1e9 else constraint.left
        right = constraint.right
        if constraint.type is Integral:
            value = left + R.choice([0, 1, 2, 3, 10, 1000])
        elif right is not None and right < 1e9:
            value = left + (right - left) * R.choice([0.001, 0.1, 0.5, 0.9, 1.0])
        else:
            value = left + 10.0 ** R.choice([-12, -3, -1, 0, 0, 1, 3, 12, R.choice([-12, 12])])
        return value if constraint.is_satisfied_by(value) else _NOTHING
    return (
        R.choice([True, False])
        if constraint.is_satisfied_by(True) and not constraint.is_satisfied_by("x")
        else _NOTHING
    )
