"""More rows than fit in double precision. Teaching equals a fresh fit, and predictions those of the slow way."""

import numpy as np
import pytest

from mercer import FewLabelClassifier, suggest

METHODS = ["lssvm", "components", "ls_kpca", "semi_kpca", "forest"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=5100)
    return rng.normal(size=(5100, 4)) + 2.5 * np.eye(3, 4)[y], y


def fitted(X, y, labeled):
    given = np.full(len(y), -1)
    given[labeled] = y[labeled]
    return FewLabelClassifier(METHODS, time_budget=0.5).fit(X, given)


@pytest.fixture(scope="module")
def model(rows):
    return fitted(*rows, np.arange(40))


def test_teaching_many_rows_is_a_fresh_fit(rows, model):
    X, y = rows
    some = np.array([50, 3000, 5099, 4000])
    taught, fresh = model.taught(some, y[some]), fitted(X, y, np.r_[np.arange(40), some])
    for name in ("probabilities_", "weights_", "left_out_scores_", "confidence_", "votes_"):
        np.testing.assert_allclose(getattr(taught, name), getattr(fresh, name), rtol=0, atol=1e-9)
    assert taught.estimate_.accuracy == fresh.estimate_.accuracy
    assert np.array_equal(suggest(taught, 5).rows, suggest(fresh, 5).rows)
    hundred = np.arange(100, 200)
    at_once, fresh = model.taught(hundred, y[hundred]), fitted(X, y, np.r_[np.arange(40), hundred])
    np.testing.assert_allclose(at_once.probabilities_, fresh.probabilities_, rtol=0, atol=1e-9)


def test_answers_in_blocks_are_those_of_the_candidates(model):
    assert model.candidates_[0].Z.dtype == np.float32
    slow = sum(
        model.weights_[m] * np.eye(3)[np.argmax(model.answers_.fit.fitted[m].scores(), axis=1)]
        for m in model.answers_.fit.pool.used
    )
    assert np.mean(np.abs(model.votes_ - slow).max(axis=1) > 1e-9) < 1e-3  # single precision may change a tie
    P = sum(
        weight * np.exp(slope * S) / np.exp(slope * S).sum(axis=1, keepdims=True)
        for weight, slope, S in (
            (model.weights_[m], model.answers_.fit.pool.slopes[m], model.answers_.fit.fitted[m].scores())
            for m in model.answers_.fit.pool.used
        )
    )
    floor = model.answers_.fit.pool.floor
    np.testing.assert_allclose(np.exp(model.scores_), floor + (1 - 3 * floor) * P, atol=1e-5)


def test_rows_to_choose_from_are_looked_at_however_many_there_are(rows, model):
    unseen = np.setdiff1d(np.arange(len(rows[0])), model.advice_rows())
    assert len(unseen) and set(suggest(model, 3, among=unseen).rows) <= set(unseen)
    assert len(suggest(model, 5050).rows) == 5050
