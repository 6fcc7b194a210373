"""FewLabelClassifier on rows that are strings or other objects, and on similarities of all pairs."""

import numpy as np
import pytest

from mercer import FewLabelClassifier, FewLabelRegressor, Jaccard, Spectrum, load, save, unseen_rows
from mercer.errors import InputError


def words(n, seed=0):
    """(strings of two alphabets that overlap, their classes)."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    return ["".join(rng.choice(list(("abcdefg", "defghij")[c]), 20)) for c in truth], truth


def given(truth, number=10):
    return np.where(np.arange(len(truth)) < number, truth, -1)


def fitted(X, y, kernel):
    return FewLabelClassifier(["lssvm"]).fit(X, y, kernel=kernel)


def test_strings_are_rows_and_new_strings_are_predicted(tmp_path):
    X, truth = words(80)
    model = fitted(X, given(truth), Spectrum(2))
    assert np.mean(model.transduction_ == truth) > 0.95
    assert (model.predict(X) == model.transduction_).all()
    new, expected = words(40, 1)
    P = model.predict_proba(new)
    assert P.shape == (40, 2) and np.mean(model.predict(new) == expected) > 0.95
    assert len(unseen_rows(model, X, 2)) == 2
    save(model, tmp_path / "m.mercer")
    np.testing.assert_allclose(load(tmp_path / "m.mercer").predict_proba(new), P)


def test_a_similarity_matrix_gives_what_its_rows_give():
    X, truth = words(60)
    new, expected = words(30, 1)
    kernel = Spectrum(2)
    K, cross = kernel(X), kernel(new, X)
    model = fitted(K, given(truth), "precomputed")
    of_rows = fitted(X, given(truth), kernel)
    np.testing.assert_allclose(model.predict_proba(cross), of_rows.predict_proba(new), atol=1e-6)
    assert np.mean(model.predict(cross) == expected) > 0.9
    with pytest.raises(ValueError, match="expecting 60"):
        model.predict(cross[:, :10])


def test_sets_and_functions_of_two_rows():
    X, truth = words(40)
    sets = [set(word) for word in X]
    for kernel in (Jaccard(), lambda a, b: float(len(a & b))):
        assert np.mean(fitted(sets, given(truth), kernel).transduction_ == truth) > 0.9


def test_prepare_and_teach_with_strings():
    X, truth = words(40)
    model = FewLabelClassifier(["lssvm"]).prepare(X, kernel=Spectrum(2)).taught(range(10), truth[:10].tolist())
    assert np.mean(model.transduction_ == truth) > 0.9


def test_refusals_tell_what_is_accepted():
    X, truth = words(20)
    with pytest.raises(InputError, match="a kernel object such as"):
        fitted(X, given(truth), "rbf")
    with pytest.raises(InputError, match="All rows are the same"):
        fitted(["abc"] * 20, given(truth), Spectrum(2))
    with pytest.raises(InputError, match="square|symmetric|shape"):
        fitted(Spectrum(2)(X)[:, :5], given(truth), "precomputed")


def test_numbers_of_strings():
    X, _ = words(40)
    y = np.where(np.arange(40) < 20, [word.count("a") + word.count("b") for word in X], np.nan)
    model = FewLabelRegressor().fit(X, y, kernel=Spectrum(1))
    expected = np.array([word.count("a") + word.count("b") for word in X])
    assert np.abs(model.predict(X) - expected)[20:].mean() < 0.5 * np.abs(expected - expected.mean())[20:].mean()
