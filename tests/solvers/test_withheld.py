"""Folds of labels removed from a fit without fitting again, against refits, and gains against their formula."""

import numpy as np
import pytest

from mercer import LSSVMClassifier, SemiKPCA
from mercer.inputs.labels import read_labels
from mercer.solvers.ridge.effect import Gains, effect_of_ignored
from mercer.solvers.ridge.state import State


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", [LSSVMClassifier(10.0), LSSVMClassifier(3.0, bias=False), SemiKPCA()])
@pytest.mark.parametrize("width", [4, 60])
def test_a_withheld_fold_is_a_fit_without_it(model, weighted, width):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(80, width)) / np.sqrt(width)
    y = np.where(np.arange(80) < 30, rng.integers(3, size=80), -1)
    labels, state = read_labels(y), State(Z, rng.uniform(0.5, 2.0, 80) if weighted else None)
    test = np.array([0, 3, 4, 17, 29])
    answers, fitted, left_out = model.withheld(state, labels).without(test)
    known = labels.keep(np.setdiff1d(np.arange(30), test))
    solution = model.solve(state, known)
    np.testing.assert_allclose(answers, solution.scores(Z[test]), atol=1e-9)
    np.testing.assert_allclose(fitted, solution.scores(Z[known.labeled]), atol=1e-9)
    np.testing.assert_allclose(left_out, solution.left_out, atol=1e-9)


@pytest.mark.parametrize("penalty", [0.3, None])
def test_gains_follow_the_labels(penalty):
    rng = np.random.default_rng(0)
    Z, weight = rng.normal(size=(50, 7)), rng.random(50)
    effect = effect_of_ignored(Z, np.arange(5), 0.3)
    effect = effect if penalty else type(effect)(Z, effect.M)
    gains = Gains(effect, effect.focus_on(weight))
    for j in (11, 30, 12):
        gains.label(j)
        effect = effect.after(j)
    C = Z @ effect.M @ Z.T
    expected = (C**2 * weight[:, None]).sum(axis=0) / ((np.diag(C) + penalty) if penalty else 1.0)
    np.testing.assert_allclose(gains.values, expected, rtol=1e-9)
