"""The recipes of CONTRIBUTING.md do what they say, with the files they name.

Kernel and method also go through `tests/kernels/test_protocol.py` and `tests/estimators/test_method_protocol.py`.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mercer
from mercer import RBF, FewLabelClassifier, InputError, KernelPCA, LSSVMClassifier, SemiKPCA, load, rows, save
from mercer.few_label import catalog
from mercer.homes import HOMES
from mercer.io import registry
from naive import same_up_to_sign
from recipes import PAGE, line, recipe

RationalQuadratic = recipe("A kernel").RationalQuadratic
ZeroedRidge = recipe("A few-label method").ZeroedRidge
home = recipe("An array backend")


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(registry, "_users", {})  # registered in this test only


@pytest.fixture
def strips(monkeypatch):
    monkeypatch.setattr(mercer.homes, "HOMES", [home.HOME, *HOMES])
    return lambda A: home.Strips([A[:20], A[20:30], A[30:]])


def data():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.standard_normal((60, 4)) + 2.0 * y[:, None]
    return X, np.where(np.arange(60) < 12, y, -1)


def test_the_page_is_short():
    assert len(PAGE.read_text(encoding="utf-8").splitlines()) < 200


@pytest.mark.parametrize("model", [LSSVMClassifier(kernel=RationalQuadratic(alpha=0.7)), ZeroedRidge()], ids=repr)
def test_models_with_classes_of_a_recipe_are_saved_once_they_are_registered(model, registered, tmp_path):
    X, y = data()
    model.fit(X, y)
    cls = RationalQuadratic if isinstance(model, LSSVMClassifier) else ZeroedRidge
    with pytest.raises(InputError, match=cls.__name__):
        save(model, tmp_path / "refused.mercer")
    mercer.register(cls)
    save(model, tmp_path / "model.mercer")
    again = load(tmp_path / "model.mercer")
    assert type(again) is type(model) and again.kernel_ == model.kernel_
    assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_a_method_of_a_recipe_is_a_candidate_by_its_entry_in_the_catalog(monkeypatch):
    entry = eval(line("A few-label method"), vars(catalog) | {"ZeroedRidge": ZeroedRidge})
    monkeypatch.setattr(catalog, "CATALOG", (*catalog.CATALOG, entry))
    X, y = data()
    model = FewLabelClassifier(["zeroed"]).fit(X, y)
    assert {one.method for one in model.candidates_} == {"zeroed"} and "zeroed lam=0.1" in str(model.report_)
    assert all(isinstance(one.model, ZeroedRidge) and one.settings.startswith("lam=0.1") for one in model.candidates_)
    assert np.mean(model.transduction_ == np.arange(60) % 2) > 0.9
    assert "zeroed" not in {one.method for one in FewLabelClassifier().fit(X, y).candidates_}


def test_the_verbs_on_rows_of_a_new_home(strips):
    Z, rng = data()[0], np.random.default_rng(1)
    there = strips(Z)
    weight, A, W = rng.random(60), rng.standard_normal((60, 2)), rng.standard_normal((4, 3))
    assert_allclose(rows.gram(there), Z.T @ Z, rtol=1e-13)
    assert_allclose(rows.gram(there, weight), Z.T @ (weight[:, None] * Z), rtol=1e-13)
    assert_allclose(rows.tdot(there, A), Z.T @ A, rtol=1e-12)
    assert_allclose(rows.dot(there, W), Z @ W, rtol=1e-12, atol=1e-14)
    assert_allclose(rows.squares(there), np.sum(Z**2, axis=1), rtol=1e-13)
    assert_array_equal(rows.take(there, [50, 3, 29, 3]), Z[[50, 3, 29, 3]])
    assert_array_equal(rows.take(there, Z[:, 0] > 0), Z[Z[:, 0] > 0])
    doubled = rows.by_blocks(lambda block: 2 * block, there, 4)
    assert isinstance(doubled, home.Strips) and [len(part) for part in doubled.parts] == [20, 10, 30]
    assert_array_equal(rows.host(doubled), 2 * Z)
    assert_array_equal(rows.host(rows.by_blocks(lambda block: block[:, 1], there, None)), Z[:, 1])


@pytest.mark.parametrize("model", [SemiKPCA(approx=25), LSSVMClassifier(approx=25), ZeroedRidge(approx=25)], ids=repr)
def test_models_on_rows_of_a_new_home(model, strips):
    X, y = data()
    model.fit(X, y)
    expected = model.decision_function(X), model.predict_proba(X), model.transduction_
    model.fit(strips(X), y)
    assert_array_equal(model.transduction_, expected[2])
    for new in (X, strips(X)):
        assert_allclose(model.decision_function(new), expected[0], atol=1e-9)
        assert_allclose(model.predict_proba(new), expected[1], atol=1e-8)


def test_components_of_rows_of_a_new_home(strips):
    X, _ = data()
    there = KernelPCA(3, kernel=RBF("median")).fit(strips(X))
    here = KernelPCA(3, kernel=RBF("median"), approx="exact").fit(X)
    assert "list of strips" in there.approx_reason_
    assert same_up_to_sign(there.transform(strips(X)), here.transform(X), 1e-7)


def test_bad_rows_of_a_new_home_are_named(strips):
    X, y = data()
    X[40, 2] = np.nan
    with pytest.raises(InputError, match=r"X is a list of strips that contains NaN or infinity in column\(s\) 2"):
        SemiKPCA().fit(strips(X), y)
