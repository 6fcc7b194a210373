"""Predictions that are accepted with a promise."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mercer import FewLabelClassifier, LSSVMClassifier, accept
from mercer.advice.accept import offers_of
from mercer.errors import InputError


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X, y = X[:1200], y[:1200] % 2
    return FewLabelClassifier(["mixed"]).prepare(X), y, np.random.default_rng(0).permutation(1200)


def taught(digits, n, **options):
    prepared, y, order = digits
    return prepared.taught(order[:n], y[order[:n]].tolist(), **options)


def test_with_enough_checks_rows_are_accepted_and_the_promise_is_kept(digits):
    model, y = taught(digits, 150), digits[1]
    found = accept(model, 0.1)
    assert len(found.rows) > 300 and found.checks > 60
    assert not np.isin(found.rows, model.labels_.labeled).any()
    assert np.mean(model.transduction_[found.rows] != y[found.rows]) <= 0.1
    assert (model.confidence_[found.rows] >= found.threshold).all()
    rest = np.setdiff1d(np.flatnonzero(model.answers_.given < 0), found.rows)
    assert not len(rest) or model.confidence_[rest].max() <= found.threshold
    assert "at most 10% of them are wrong" in str(found)


def test_too_few_checks_say_how_many_are_missing_and_that_is_about_right(digits):
    model = taught(digits, 40)
    found = accept(model, 0.05)
    assert not len(found.rows) and np.isnan(found.threshold)
    assert found.missing and 20 < found.missing < 200 and found.missing_drawn >= found.missing
    assert "No prediction can be accepted yet" in str(found) and f"About {found.missing} more" in str(found)
    later = accept(taught(digits, 40 + int(1.5 * found.missing_drawn)), 0.05)
    assert len(later.rows)


def test_only_rows_drawn_at_random_are_checks(digits):
    drawn = np.zeros(150, dtype=bool)
    drawn[:20] = True
    found = accept(taught(digits, 150, drawn=drawn), 0.1)
    assert not len(found.rows)
    assert max(one.checks for one in offers_of(taught(digits, 150, drawn=drawn), 0.1, 0.05)) == 20


def test_stricter_promises_accept_fewer_rows(digits):
    model = taught(digits, 200)
    sizes = [len(accept(model, rate).rows) for rate in (0.2, 0.1, 0.05, 0.01)]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[-1]
    assert len(accept(model, 0.1, 0.5).rows) >= len(accept(model, 0.1, 0.999).rows)


def test_coin_tosses_are_not_accepted():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(400, 5)), rng.integers(0, 2, 400)
    model = FewLabelClassifier(["mixed"]).fit(X, np.where(np.arange(400) < 150, y, -1))
    found = accept(model, 0.2)
    assert not len(found.rows) and found.missing is None and "Give more labels" in str(found)


def test_copies_of_labeled_rows_are_held_out_together():
    """Labels copied with their rows are correct for no reason and must not certify anything."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(400, 5)), rng.integers(0, 2, 400)
    X[:200], y[:200] = np.tile(X[:40], (5, 1)), np.tile(y[:40], 5)
    model = FewLabelClassifier(["diffusion"]).fit(X, np.where(np.arange(400) < 200, y, -1))
    assert np.mean(model.left_out_probabilities_.argmax(axis=1) == y[:200]) > 0.9
    assert not len(accept(model, 0.2).rows)


@pytest.mark.parametrize("options", [{"wrong_at_most": 0}, {"wrong_at_most": 5}, {"certainty": 1.0}])
def test_bad_values_are_refused(digits, options):
    with pytest.raises(InputError, match="expected a number between 0 and 1"):
        accept(taught(digits, 40), **options)


def test_other_models_are_refused():
    with pytest.raises(InputError, match="needs a fitted FewLabelClassifier"):
        accept(LSSVMClassifier())
