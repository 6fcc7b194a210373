"""The kernel of random trees and its leaves, in every method, on new rows, saved and loaded."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.tree import ExtraTreeRegressor

import mercer
from mercer import SVDD, FewLabelClassifier, Forest, InputError, KernelCMeans, KernelPCA, LandmarkMap, LSSVMClassifier
from mercer.geometry.operators import SparseFactor
from mercer.kernels.forest import Nodes, sklearn_nodes
from naive import assert_close


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def test_leaves_are_those_of_scikit_learn(wine):
    trees = [ExtraTreeRegressor(max_features=1, random_state=seed).fit(*wine) for seed in range(3)]
    first = np.cumsum([0, *(tree.tree_.node_count for tree in trees)])
    expected = np.column_stack([tree.apply(wine[0]) + start for tree, start in zip(trees, first)])
    nodes = Nodes(*sklearn_nodes([tree.tree_ for tree in trees]))
    np.testing.assert_array_equal(nodes.leaves(wine[0]), expected)
    np.testing.assert_array_equal(nodes.leaves(sp.csr_array(wine[0])), expected)


def test_a_value_is_the_share_of_trees_in_which_two_rows_share_a_leaf(wine):
    X = wine[0][:40]
    kernel = Forest(30, 16).resolve(X)
    leaves = kernel.trees_.leaves(X)
    expected = [[np.mean(a == b) for b in leaves] for a in leaves]
    assert_close(kernel(X), expected, atol=1e-12)
    assert_close(kernel(X[:7], X[7:]), np.array(expected)[:7, 7:], atol=1e-12)
    assert np.linalg.eigvalsh(kernel(X))[0] > -1e-12
    Phi = kernel.sparse_features(X)
    assert Phi.nnz == 40 * 30
    assert_close((Phi @ Phi.T).toarray(), expected, atol=1e-12)
    assert kernel(X.astype(np.float32)).dtype == np.float32
    grown = Forest(30, 16, random_state=1).resolve(X)
    assert np.abs(grown(X) - kernel(X)).max() > 0.05


def test_the_units_of_the_columns_do_not_matter(wine):
    X = wine[0]
    units = 2.0 ** np.arange(-6, 7)  # the same digits for powers of two
    np.testing.assert_array_equal(Forest().resolve(X)(X), Forest().resolve(X * units)(X * units))


def test_more_rows_in_a_tree_make_a_narrower_kernel(wine):
    X = wine[0]
    means = [Forest(100, s).resolve(X)(X).mean() for s in (8, 32, 128)]
    assert means[0] > 1.5 * means[1] > 2 * means[2]


def test_a_weight_is_a_number_of_copies(wine):
    """Trees of weighted rows have the distribution of trees of drawn copies, as the mean of the kernel shows."""
    X = wine[0][:60]
    weight = np.where(np.arange(60) < 30, 9.0, 1.0)
    weighted = Forest(1500, 16).resolve(X, weight)(X)
    copied = Forest(1500, 16, random_state=1).resolve(np.repeat(X, weight.astype(int), axis=0))(X)
    plain = Forest(1500, 16).resolve(X)(X)
    assert np.abs(weighted - copied).mean() < 0.5 * np.abs(weighted - plain).mean()


def test_every_kind_of_method_takes_it(wine):
    X, y = wine
    given = np.where(np.arange(len(y)) % 6, -1, y)
    kernel = Forest()
    model = LSSVMClassifier(kernel=kernel).fit(X, given)
    assert np.mean(model.predict(X) == y) > 0.9  # without scaling, an RBF of the median width is correct in 70%
    assert not hasattr(kernel, "trees_") and clone(model).kernel == kernel
    named = LSSVMClassifier(kernel="forest").fit(X, given)
    np.testing.assert_array_equal(named.decision_function(X), model.decision_function(X))
    assert np.mean(SVDD(kernel=kernel).fit(X[:100]).decision_function(X[100:]) > 0) < 0.9
    assert len(set(KernelCMeans(3, kernel=kernel, random_state=0).fit_predict(X))) == 3
    mixed = LSSVMClassifier(kernel=0.5 * kernel + mercer.RBF()).fit(X, given)
    assert mixed.predict(X).shape == y.shape
    by_landmarks = LSSVMClassifier(kernel=kernel, approx=50).fit(X, given)
    assert np.mean(by_landmarks.predict(X) == y) > 0.85


def test_products_go_through_the_leaves(wine):
    X = wine[0]
    by_leaves = KernelPCA(4, kernel=Forest()).fit(X[:120])
    stored = KernelPCA(4, kernel=Forest(), solver="stored").fit(X[:120])
    assert "sparse features" in by_leaves.approx_reason_ and "stored" in stored.approx_reason_
    assert_close(by_leaves.eigenvalues_, stored.eigenvalues_, rtol=1e-8)
    assert_close(np.abs(by_leaves.transform(X[120:])), np.abs(stored.transform(X[120:])), atol=1e-6)
    kernel = Forest().resolve(X)
    operator, K = SparseFactor(kernel.sparse_features(X)), kernel(X)
    V = np.random.default_rng(0).standard_normal((len(X), 3))
    assert_close(operator @ V, K @ V, atol=1e-10)
    assert_close(operator.diag(), np.ones(len(X)), atol=1e-12)
    assert_close(operator.columns([3, 5]), K[:, [3, 5]], atol=1e-12)
    Z = LandmarkMap(kernel).fit_transform(X)
    assert_close(Z @ Z.T, K, atol=1e-8)


def test_a_saved_model_answers_the_same(wine, tmp_path):
    X, y = wine
    given = np.where(np.arange(len(y)) % 6, -1, y)
    for model in (
        LSSVMClassifier(kernel=Forest()).fit(X, given),
        LSSVMClassifier(kernel=Forest(), approx=40).fit(X, given),
    ):
        mercer.save(model, tmp_path / "m.mercer")
        loaded = mercer.load(tmp_path / "m.mercer")
        np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_torch_rows_give_a_torch_matrix(wine):
    torch = pytest.importorskip("torch")
    X = wine[0]
    kernel = Forest().resolve(X)
    K = kernel(torch.as_tensor(X))
    assert isinstance(K, torch.Tensor)
    assert_close(K.numpy(), kernel(X), atol=1e-12)


def test_what_is_refused(wine):
    X = wine[0]
    with pytest.raises(InputError, match=r"has no trees yet. Call kernel.resolve\(X\)"):
        Forest()(X)
    with pytest.raises(InputError, match="n_estimators=0 is not accepted. Use a whole number of at least 1"):
        Forest(0).resolve(X)
    with pytest.raises(InputError, match="max_samples=1.5 is not accepted"):
        Forest(max_samples=1.5).resolve(X)


def test_votes_of_the_few_label_forests_are_unchanged():
    """The forests of FewLabelClassifier use the same nodes, see tests/evidence."""
    X, y = load_iris(return_X_y=True)
    given = np.where(np.arange(150) % 10, -1, y)
    model = FewLabelClassifier(["forest"]).fit(X, given)
    assert np.mean(model.transduction_ == y) > 0.9


def test_trees_of_a_damaged_file_that_go_round_are_refused(wine):
    X = wine[0]
    kernel = Forest(n_estimators=3).resolve(X)
    kernel.trees_.right[kernel.trees_.right >= 0] = 0
    kernel.trees_.left[kernel.trees_.left >= 0] = 0
    with pytest.raises(InputError, match="do not end at leaves"):
        kernel(X)
