"""Conventions of scikit-learn that its own checks do not cover, and that users of its estimators rely on."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import scipy.sparse as sp
from scipy.special import logsumexp
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning, UnsetMetadataPassedError
from sklearn.metrics import check_scoring, r2_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale

from mercer import (
    RBF,
    SVDD,
    Diffusion,
    FewLabelClassifier,
    FewLabelRegressor,
    FourierMap,
    KernelCMeans,
    KernelDensityNovelty,
    KernelPCA,
    KPCANovelty,
    LabeledKFold,
    LabeledScorer,
    LandmarkMap,
    Laplacian,
    Linear,
    LSSVMClassifier,
    LSSVMRegressor,
    MaxMarginClustering,
    MinimumVarianceKPCA,
    Polynomial,
    S2RLSClassifier,
    SemiKPCA,
    Sigmoid,
    SparseKernelPCA,
    TableEncoder,
)
from mercer.errors import InputError
from mercer.estimators.novelty import threshold


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((40, 3))


# Feature maps are transformers like any other


@pytest.mark.parametrize("feature_map", [LandmarkMap("rbf", 5), FourierMap("rbf", 6)])
def test_maps_name_their_features_and_fill_data_frames(feature_map, X):
    plain = feature_map.fit(X).transform(X)
    names = feature_map.get_feature_names_out()
    assert names.tolist() == [f"{type(feature_map).__name__.lower()}{i}" for i in range(plain.shape[1])]
    feature_map.set_output(transform="pandas")
    for frame in (feature_map.fit_transform(X), feature_map.transform(X)):
        assert isinstance(frame, pd.DataFrame) and frame.columns.tolist() == names.tolist()
        np.testing.assert_allclose(frame.to_numpy(), plain, rtol=0, atol=1e-12)
    last = make_pipeline(feature_map, KernelPCA(2)).fit(X)
    assert list(last[-1].feature_names_in_) == names.tolist()


def test_maps_inside_estimators_are_not_wrapped_by_the_global_output(X):
    for kernel in ("rbf", 0.5 * RBF(1.0) + 0.5 * Diffusion(n_neighbors=5), "precomputed"):
        rows = RBF(1.0)(X) if isinstance(kernel, str) and kernel == "precomputed" else X
        wanted = KernelPCA(2, kernel=kernel, approx=20).fit(rows).transform(rows)
        with config_context(transform_output="pandas"):
            found = KernelPCA(2, kernel=kernel, approx=20).fit(rows).transform(rows)
        assert isinstance(found, pd.DataFrame)
        np.testing.assert_array_equal(found.to_numpy(), wanted)


def test_maps_take_sample_weight_by_its_name():
    X = load_iris().data
    weight = (np.arange(len(X)) < 50).astype(float)
    for new in (lambda: LandmarkMap("rbf", 5), lambda: FourierMap("rbf", 6)):
        weighed = new().fit(X, sample_weight=weight)
        assert weighed.kernel_ == new().fit(X[:50]).kernel_ != new().fit(X).kernel_
        np.testing.assert_allclose(new().fit_transform(X, sample_weight=list(weight)), weighed.transform(X), atol=1e-12)
    with pytest.raises(InputError, match="expected \\(150,\\)"):
        LandmarkMap().fit(X, sample_weight=weight[:3])


# The oldest versions that are accepted


def test_no_empty_matrix_is_decomposed_by_scipy(monkeypatch):
    def before_1_14(decompose):
        def refusing(A, *args, **kwargs):
            if np.size(A) == 0:
                raise ValueError("Internal work array size computation failed: -5")
            return decompose(A, *args, **kwargs)

        return refusing

    for name in ("svd", "eigh", "qr", "cholesky", "lstsq"):
        monkeypatch.setattr(scipy.linalg, name, before_1_14(getattr(scipy.linalg, name)))
    X = load_iris().data
    assert len(SparseKernelPCA(2, keep=0.2).fit(X).support_) >= 28  # the search passes an epsilon that keeps no row
    with pytest.raises(InputError, match="every row vanishes"):
        SparseKernelPCA(2, epsilon=100.0).fit(X)
    assert MinimumVarianceKPCA(2).fit(X).eigenvalues_[0] > 0  # without any group


def test_components_have_the_sign_of_their_scores():
    X, y = load_iris(return_X_y=True)
    given, rng = np.where(np.arange(len(y)) % 10 == 0, y, -1), np.random.default_rng(0)
    first = MinimumVarianceKPCA(3).fit(X, given)
    scores = first.transform(X)
    assert (scores.max(axis=0) > -scores.min(axis=0)).all()
    np.testing.assert_array_equal(first.result_.value, first.components_)
    for seed in range(5):
        order = rng.permutation(len(X))
        shuffled = MinimumVarianceKPCA(3).fit(X[order], given[order]).transform(X)
        landmarks = MinimumVarianceKPCA(3, approx=len(X), random_state=seed).fit(X, given).transform(X)
        np.testing.assert_allclose(shuffled, scores, atol=1e-10)
        np.testing.assert_allclose(landmarks, scores, atol=1e-10)


# Novelty


@pytest.mark.filterwarnings("ignore:.*of the spectrum of this similarity is negative")
@pytest.mark.parametrize("seed", range(4))
def test_an_indefinite_kernel_does_not_blow_up_new_rows(seed):
    X, new = (np.random.default_rng(s).standard_normal((n, 3)) for s, n in ((seed, 60), (seed + 100, 300)))
    for kernel in (Sigmoid(1, 0), Sigmoid(2, -1), Sigmoid()):
        svdd = SVDD(kernel=kernel).fit(X)
        assert svdd.map_.negative_mass_ > 0.01
        assert svdd.score_samples(new).min() > 3 * svdd.training_scores_.min()
        clusters = KernelCMeans(3, kernel=kernel, random_state=0).fit(X)
        assert clusters.transform(new).max() < 3 * clusters.transform(X).max()
        novelty = KPCANovelty(2, kernel=kernel).fit(X)
        assert novelty.score_samples(new).min() > 10 * novelty.training_scores_.min() - 1e-9
        values = np.linalg.eigvalsh(kernel.resolve(X)(X))
        assert svdd.map_.rank_ == np.sum(values > -values[0])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_components_that_span_all_rows_leave_no_noise_to_judge_by(seed, dtype):
    X = np.random.default_rng(seed).standard_normal((60, 3)).astype(dtype)
    model = KPCANovelty(3, kernel="linear")
    with pytest.warns(UserWarning, match="The 3 components span all training rows.*smaller n_components"):
        answers = model.fit_predict(X)
    assert (answers == 1).all() and (model.predict(X) == 1).all() and (model.predict(X + dtype(1e6)) == 1).all()
    assert not model.score_samples(X).any() and not model.training_scores_.any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fewer = KPCANovelty(2, kernel="linear", contamination=0.1)
        answers = fewer.fit_predict(X)
    assert (answers == -1).sum() == 6 and np.array_equal(answers, fewer.predict(X))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_threshold_of_svdd_is_not_among_rows_that_only_rounding_tells_apart(seed, dtype):
    X = np.random.default_rng(seed).standard_normal((60, 3)).astype(dtype)
    for nu in (0.1, 0.25):
        for tol in (1e-6, 1e-12):  # with the second all rows on the sphere have one score, up to rounding
            model = SVDD(nu, contamination=nu, tol=tol)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                answers = model.fit_predict(X)
            assert np.array_equal(answers, model.predict(X)) and (answers == -1).sum() <= nu * len(X)
            least = 1e-6 if dtype is np.float32 else 1e-10
            assert np.abs(model.training_scores_ - model.offset_).min() > least


@pytest.mark.parametrize("kernel", [RBF(), RBF(0.3), Polynomial(2), Laplacian()], ids=repr)
@pytest.mark.parametrize("contamination", [None, 0.2])
def test_weights_of_svdd_are_repetitions_to_the_last_digits(kernel, contamination):
    rng = np.random.default_rng(5)
    X, weight, new = rng.normal(size=(60, 4)), rng.integers(0, 4, 60), rng.normal(size=(40, 4))
    again = np.repeat(X, weight, axis=0)[rng.permutation(weight.sum())]
    model = SVDD(0.2, kernel=kernel, contamination=contamination)
    rows = np.concatenate([X, new])
    weighted = clone(model).fit(X, sample_weight=weight).decision_function(rows)
    repeated = clone(model).fit(again).decision_function(rows)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9, atol=1e-11 * np.abs(weighted).max())


def test_thresholds_between_healthy_scores_are_half_way():
    scores, weight = np.array([1.0, 2.0, 2.0 + 1e-6, 4.0]), np.ones(4)
    assert threshold(scores, weight, 0.25) == 1.5
    assert threshold(scores, weight, 0.5) == pytest.approx(2.0 + 5e-7, abs=1e-9)
    assert threshold(scores, weight, 0.5, slack=1e-5) == 1.5
    assert threshold(scores, weight, 0.1, slack=1e-5) == 1.0 - 1e-5


def test_a_search_learns_from_known_outliers_unless_y_is_for_the_scores_only():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((50, 2)), rng.standard_normal((10, 2)) + [3.0, 0.0]])
    y = np.repeat([1, -1], [50, 10])
    folds = list(StratifiedKFold(5).split(X, y))
    for model, given in ((SVDD(0.2), y), (SVDD(0.2, outlier_weight=None), None)):
        found = GridSearchCV(model, {"nu": [0.2]}, scoring="roc_auc", cv=folds).fit(X, y)
        wanted = SVDD(0.2).fit(X, given).decision_function(X)
        np.testing.assert_array_equal(found.decision_function(X), wanted)
        fits = [SVDD(0.2).fit(X[train], None if given is None else given[train]) for train, _ in folds]
        scores = [roc_auc_score(y[test], fit.decision_function(X[test])) for fit, (_, test) in zip(fits, folds)]
        assert found.best_score_ == pytest.approx(np.mean(scores))
    assert (SVDD(0.2).fit(X, y).predict(X[50:]) == -1).sum() > (SVDD(0.2).fit(X).predict(X[50:]) == -1).sum()


def test_densities_far_from_all_rows_keep_their_digits():
    X = scale(load_wine().data)
    for weight in (None, 1.0 + np.arange(len(X)) % 3):
        model = KernelDensityNovelty(0.8).fit(X, sample_weight=weight)
        for new in (X, 1.5 * X, 3 * X, 40 * X):
            squared = ((new[:, None] - X) ** 2).sum(axis=2)
            wanted = logsumexp(-squared / (2 * 0.64), axis=1, b=np.ones(len(X)) if weight is None else weight)
            wanted -= np.log(len(X) if weight is None else weight.sum()) + 13 * np.log(0.8 * np.sqrt(2 * np.pi))
            np.testing.assert_allclose(model.score_samples(new), wanted, rtol=1e-6)


# Arrow


def few(y):
    """Every fifth label, None elsewhere."""
    return [value if i % 5 == 0 else None for i, value in enumerate(y)]


def test_labels_in_arrow_columns():
    pa = pytest.importorskip("pyarrow")
    X, y = (part[:100] for part in load_iris(return_X_y=True))
    for names, types in (
        (["a", "b"], [pa.string(), pa.large_string()]),
        ([0, 1], [pa.int64()]),
        ([False, True], [None]),
    ):
        truth = np.array(names)[y].tolist()
        wanted = SemiKPCA().fit(X, few(truth))
        columns = [pa.array(few(truth), kind) for kind in types]
        columns += [pa.chunked_array([columns[0][:30], columns[0][30:]]), columns[0].dictionary_encode()]
        columns.append(pa.table({"y": columns[0]}))
        for column in columns:
            found = SemiKPCA().fit(X, column)
            assert found.classes_.tolist() == names
            np.testing.assert_array_equal(found.decision_function(X), wanted.decision_function(X))
            assert found.score(X, pa.array(truth)) == wanted.score(X, truth)
    soft = pa.table({"no": (y == 0) * 1.0, "yes": (y == 1) * 1.0})
    assert SemiKPCA().fit(X, soft).classes_.tolist() == ["no", "yes"]
    targets = [None if value is None else value + 0.5 for value in few(y.tolist())]
    expected = LSSVMRegressor().fit(X, targets).predict(X)
    np.testing.assert_array_equal(LSSVMRegressor().fit(X, pa.array(targets)).predict(X), expected)


def test_arrow_tables_with_text_are_read_like_data_frames():
    pa = pytest.importorskip("pyarrow")
    X, y = (part[:100] for part in load_iris(return_X_y=True))
    table = pa.table({f"c{i}": column for i, column in enumerate(X.T)})
    table = table.append_column("color", pa.array(["red" if i % 3 else "blue" for i in range(100)]))
    frame, given = table.to_pandas(), few(y.tolist())
    np.testing.assert_array_equal(TableEncoder().fit_transform(table), TableEncoder().fit_transform(frame))
    model, other = (FewLabelClassifier(["lssvm"]).fit(rows, given) for rows in (table, frame))
    assert model.feature_names_in_.tolist() == table.column_names
    for rows in (table, table.to_batches()[0], frame):
        np.testing.assert_array_equal(model.predict_proba(rows), other.predict_proba(frame))
    with pytest.warns(UserWarning, match="color"):
        model.predict(table.drop_columns(["color"]))


# Weights in scores, threads


def test_the_labeled_scorer_drops_the_weights_of_unlabeled_rows():
    X, y = load_iris(return_X_y=True)
    given, weight = few(y.tolist()), np.random.default_rng(0).uniform(size=len(y))
    model, known = SemiKPCA(1).fit(X, given), np.arange(0, len(y), 5)
    model.coef_ = np.roll(model.coef_, 1, axis=1)  # some wrong predictions
    for scoring in ("accuracy", "neg_log_loss", None):
        plain = check_scoring(model, scoring=scoring)(model, X[known], y[known], sample_weight=weight[known])
        assert LabeledScorer(scoring)(model, X, given, sample_weight=weight) == pytest.approx(plain, abs=1e-12)
        assert plain != check_scoring(model, scoring=scoring)(model, X[known], y[known])


def test_the_labeled_scorer_asks_for_weights_by_metadata_routing():
    X, y = load_iris(return_X_y=True)
    given, weight = np.array(few(y.tolist()), dtype=object), 1.0 + np.arange(len(y))
    seen = []

    def score(model, X, y, sample_weight=None):
        seen.append(sample_weight)
        return model.score(X, y)

    with config_context(enable_metadata_routing=True):
        model = SemiKPCA().set_fit_request(sample_weight=False)
        scorer = LabeledScorer(score)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            cross_val_score(model, X, given, cv=LabeledKFold(3), scoring=scorer, params={"sample_weight": weight})
        routed = scorer.set_score_request(sample_weight=True)
        cross_val_score(model, X, given, cv=LabeledKFold(3), scoring=routed, params={"sample_weight": weight})
    assert sorted(np.concatenate(seen)) == weight[::5].tolist()
    search = GridSearchCV(LSSVMClassifier(), {"gamma": [0.1, 1.0]}, cv=LabeledKFold(3), scoring=LabeledScorer())
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # scikit-learn warns of scorers that take no weights
        search.fit(X, given, sample_weight=weight)


@pytest.mark.parametrize("new", [MaxMarginClustering, S2RLSClassifier])
def test_minus_one_is_all_threads(new):
    X, y = (part[:100] for part in load_iris(return_X_y=True))
    answers = [new(n_restarts=3, n_jobs=n_jobs).fit(X, few(y.tolist())).predict(X) for n_jobs in (-1, None, 1)]
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])
    for bad in (0, -2):
        with pytest.raises(ValueError, match="n_jobs"):
            new(n_jobs=bad).fit(X, few(y.tolist()))


# Probabilities


@pytest.mark.parametrize("model", [LSSVMClassifier(), FewLabelClassifier(["lssvm", "forest"])])
def test_logarithms_of_probabilities(model):
    X, y = load_iris(return_X_y=True)
    model.fit(X, few(y.tolist()))
    logarithms = model.predict_log_proba(X)
    np.testing.assert_array_equal(logarithms, np.log(model.predict_proba(X)))
    assert np.isfinite(logarithms).all()


# Large numbers


def test_rows_near_the_largest_numbers_are_refused_or_answered():
    X = np.random.default_rng(0).standard_normal((60, 3))
    y = few((X[:, 0] > 0).astype(int).tolist())
    for dtype, most, sizes in ((np.float32, 1e18, (1e15, 5e19, 1e36)), (np.float64, 1e36, (1e30, 1e39, 1e200, 1e305))):
        for size in sizes:
            plain = [(rows * size).astype(dtype) for rows in (np.abs(X), 1 + X)]
            for rows in [*plain, sp.csr_array(plain[1])]:
                model = FewLabelClassifier(["lssvm", "forest"])
                if size > most:
                    with pytest.raises(InputError, match="X contains .*StandardScaler"):
                        model.fit(rows, y)
                else:
                    assert np.isfinite(model.fit(rows, y).predict_proba(rows)).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_new_rows_far_away_get_the_class_shares_or_are_refused_where_squares_overflow():
    X = np.random.default_rng(0).standard_normal((60, 3)).astype(np.float32)
    model = FewLabelClassifier(["lssvm", "diffusion", "forest"]).fit(X, few((X[:, 0] > 0).astype(int).tolist()))
    for size in (1e10, 1e15):
        P = model.predict_proba(X * np.float32(size))
        np.testing.assert_allclose(P, np.tile(model.prior_, (60, 1)), atol=1e-6)
    for size in (1e19, 3e19, 1e25, 1e37):
        with pytest.raises(InputError, match="whose square overflows in float32"):
            model.predict_proba(X * np.float32(size))


# What is printed


def test_composite_kernels_are_printed_inside_estimators():
    kernel = 0.3 * RBF(2.0) + Linear() * RBF()
    assert repr(kernel) == "0.3 * RBF(bandwidth=2.0) + Linear() * RBF()"
    assert repr(SemiKPCA(kernel=kernel)) == f"SemiKPCA(kernel={kernel!r})"
    shown = repr(make_pipeline(LandmarkMap(kernel), SVDD(kernel=2 * RBF())))
    assert "LandmarkMap(kernel=0.3 * RBF(bandwidth=2.0) + Linear() * RBF())" in " ".join(shown.split())
    assert "0.3 * RBF(bandwidth=2.0) + Linear() * RBF()" in SemiKPCA(kernel=kernel)._repr_html_()


# Several numbers a row


@pytest.mark.parametrize("options", [{}, {"approx": 40}, {"kernel": "linear"}, {"bias": False}])
def test_several_numbers_a_row_are_fitted_as_if_alone(options):
    X, y = load_linnerud_like()
    together = LSSVMRegressor(5.0, **options).fit(X, y)
    answers = together.predict(X + 0.1)
    assert answers.shape == (len(X), 3)
    for j in range(3):
        alone = LSSVMRegressor(5.0, **options).fit(X, y[:, j])
        np.testing.assert_allclose(answers[:, j], alone.predict(X + 0.1), atol=1e-9)
        np.testing.assert_allclose(together.left_out_[:, j], alone.left_out_, atol=1e-6)
    frame = pd.DataFrame(y, columns=list("abc"))
    np.testing.assert_array_equal(LSSVMRegressor(5.0, **options).fit(X, frame).predict(X + 0.1), answers)
    assert together.score(X, y) == pytest.approx(
        np.mean([r2_score(y[::2, j], together.predict(X)[::2, j]) for j in range(3)])
    )


def load_linnerud_like():
    """120 rows, every second one with three numbers of very different size."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4))
    y = np.column_stack([X[:, 0] ** 2, 100 * X[:, 1], np.sin(X[:, 2])]) + rng.normal(scale=0.1, size=(120, 3))
    y[1::2] = np.nan
    return X, y


def test_several_numbers_a_row_choose_one_parameter():
    X, y = load_linnerud_like()
    best = LSSVMRegressor(1e-6).select(X, y, gamma=[1e-6, 1.0])
    assert best.gamma == 1.0 and best.selection_["error"].shape == (3,)
    scaled = LSSVMRegressor(1e-6).select(X, y * [1.0, 1e-9, 1e9], gamma=[1e-6, 1.0])
    np.testing.assert_allclose(scaled.selection_["error"], best.selection_["error"], rtol=1e-6)
    y[4, 1] = np.nan
    with pytest.raises(InputError, match="Row 4 of y has some of its 3 numbers only"):
        LSSVMRegressor().fit(X, y)
    with pytest.raises(InputError, match="y has shape"):
        FewLabelRegressor().fit(X, y)


# Kernel matrices


def test_a_matrix_that_is_not_symmetric_is_refused_with_a_way_out():
    X = np.random.default_rng(0).standard_normal((30, 3))
    K = RBF(1.0)(X)
    noisy = K + 1e-3 * np.random.default_rng(1).standard_normal(K.shape)
    for model in (
        KernelPCA(2, kernel="precomputed"),
        SVDD(kernel="precomputed"),
        KernelCMeans(2, kernel="precomputed"),
    ):
        with pytest.raises(InputError, match=r"not symmetric.*pass \(K \+ K.T\) / 2"):
            model.fit(noisy)
        model.fit(K + 1e-9 * np.triu(np.ones_like(K)))  # rounding is not asymmetry


# Arrays of other libraries


@pytest.mark.parametrize("model", [LSSVMClassifier(), SVDD(), KernelPCA(2, kernel="rbf"), LandmarkMap()], ids=repr)
def test_arrays_of_the_array_api_are_read_and_answered_in_numpy(model):
    xp = pytest.importorskip("array_api_strict")
    X, y = load_iris(return_X_y=True)
    y = np.where(np.arange(len(y)) % 10 == 0, y, -1) if isinstance(model, LSSVMClassifier) else None
    method = "predict" if hasattr(model, "predict") else "transform"
    wanted = getattr(clone(model).fit(X, y), method)(X)
    found = getattr(clone(model).fit(xp.asarray(X), None if y is None else xp.asarray(y)), method)(xp.asarray(X))
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, wanted)
