"""Maps have K ≈ Z Zᵀ to the stated error, for training rows and new ones, on every backend."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

import naive
from mercer import (
    RBF,
    Cosine,
    Exponential,
    FourierMap,
    LandmarkMap,
    Laplacian,
    Linear,
    Matern32,
    Matern52,
    Polynomial,
    Sigmoid,
)
from mercer.errors import BackendError, InputError
from mercer.geometry.maps import base, landmark
from mercer.geometry.maps import draw as landmarks
from mercer.geometry.open import choose_map
from naive import assert_close

KERNELS = [RBF(1.0), Exponential(2.0), Laplacian(3.0), Matern32(1.0), Matern52(1.0), Linear(), Polynomial(2, 1.0, 0.5)]
KERNELS += [Cosine(), 0.3 * RBF(1.0) + Linear()]
CHOICES = ["pivoted", "uniform", "kmeans", "leverage"]


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((60, 3))


@pytest.fixture
def new():
    return np.random.default_rng(1).standard_normal((9, 3))


def gap(K, Z, Z_new=None):
    Z = np.asarray(Z, dtype=np.float64)
    other = Z if Z_new is None else np.asarray(Z_new, dtype=np.float64)
    return np.linalg.norm(K - other @ Z.T) / np.linalg.norm(K)


# Exact


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("dtype, error", [(np.float64, 1e-11), (np.float32, 3e-4)])
@pytest.mark.parametrize("choice", CHOICES[:2])
def test_exact_reproduces_the_kernel(kernel, X, new, dtype, error, choice):
    for given in ("exact", 60):
        fitted = LandmarkMap(kernel, landmarks=given, choice=choice)
        Z = fitted.fit_transform(X.astype(dtype))
        Z_new = fitted.transform(new.astype(dtype))
        assert Z.dtype == Z_new.dtype == dtype and Z.shape == (60, fitted.rank_)
        assert gap(kernel(X), Z) < error
        assert gap(kernel(new, X), Z, Z_new) < 10 * error
        assert_close(fitted.transform(X.astype(dtype)), Z, atol=1e-8 if dtype == np.float64 else 3e-2)
        assert fitted.error_ == pytest.approx(gap(kernel(X), Z), abs=error)
        assert fitted.energy_ == pytest.approx(1, abs=error)
        assert fitted.negative_mass_ == 0


def test_the_rank_is_the_kernels(X):
    assert LandmarkMap(Linear()).fit(X).rank_ == 3
    assert LandmarkMap(Polynomial(2, 1.0, 1.0)).fit(X).rank_ == 10
    assert LandmarkMap(RBF(1.0)).fit(np.repeat(X[:7], 5, axis=0)).rank_ == 7
    assert LandmarkMap(Linear()).fit(X.astype(np.float32)).rank_ == 3
    assert LandmarkMap(Linear()).fit(np.zeros((4, 2))).rank_ == 1  # one feature, zero
    assert_array_equal(LandmarkMap(Linear()).fit_transform(np.zeros((4, 2))), 0)


# Nyström


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("kernel", [RBF(1.0), Polynomial(3, 1.0, 1.0), Linear()], ids=repr)
def test_nystrom_by_pinv(choice, kernel, X, new):
    fitted = LandmarkMap(kernel, landmarks=12, choice=choice)
    Z = fitted.fit_transform(X)
    rows = fitted.landmarks_
    K_ll, K_nl, K_new = kernel(rows), kernel(X, rows), kernel(new, rows)
    expected = naive.nystrom(K_nl, K_ll)
    assert_close(Z @ Z.T, expected, atol=1e-8 * np.abs(expected).max())
    assert_close(
        fitted.transform(new) @ Z.T,
        K_new @ np.linalg.pinv(K_ll, rcond=1e-13) @ K_nl.T,
        atol=1e-7 * np.abs(expected).max(),
    )
    K = kernel(X)
    assert fitted.energy_ == pytest.approx(np.trace(expected) / np.trace(K))
    assert fitted.error_ == pytest.approx(np.linalg.norm(K - expected) / np.linalg.norm(K), abs=1e-12)
    assert np.linalg.eigvalsh(K - Z @ Z.T).min() > -1e-9 * np.abs(K).max() * 60  # Nyström is never above K
    if choice != "kmeans":
        assert_array_equal(X[fitted.landmark_indices_], rows)
    assert "12 landmarks" in fitted.reason_ or fitted.rank_ < 12


def test_better_choices_are_better():
    """Most rows are in one heap and few in many small ones, which pivots find and uniform draws miss."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 0.05, (400, 2)), rng.uniform(-10, 10, (25, 2))])
    errors = {
        c: np.mean([LandmarkMap(RBF(1.0), 30, c, random_state=s).fit(X).error_ for s in range(3)]) for c in CHOICES
    }
    assert errors["pivoted"] < 0.5 * errors["uniform"]
    assert errors["leverage"] < errors["uniform"]
    assert errors["kmeans"] < errors["uniform"]


def test_probabilities_with_replacement(X, monkeypatch):
    """K_nL S (S K_LL S)⁺ S K_Ln with S = diag 1/√(c p), where the scaling cancels in a full-rank pseudo-inverse."""
    p = np.arange(60.0)
    fitted = LandmarkMap(RBF(1.0), landmarks=20, choice=p, random_state=3)
    Z = fitted.fit_transform(X)
    index = fitted.landmark_indices_
    assert 0 not in index and len(index) == 20 and len(set(index)) < 20  # with replacement, never of probability 0
    expected = naive.nystrom(RBF(1.0)(X, X[np.unique(index)]), RBF(1.0)(X[np.unique(index)]))
    assert_close(Z @ Z.T, expected, atol=1e-8)
    few = LandmarkMap(RBF(1.0), 4, p, random_state=3).fit(X).landmark_indices_
    monkeypatch.setattr(landmark, "POOL", 30)  # more rows than are looked at otherwise
    assert_array_equal(LandmarkMap(RBF(1.0), 4, p, random_state=3).fit(X).landmark_indices_, few)
    for wrong in (p[:5], -p, 0 * p, p * np.nan):
        with pytest.raises(InputError, match="60 numbers ≥ 0, one per row"):
            LandmarkMap(RBF(1.0), 20, wrong).fit(X)


def test_best_rank_of_the_scaled_core(X):
    """The report's estimator, with the pseudo-inverse of the best rank-k part of the scaled core."""
    p = np.random.default_rng(0).random(60)
    fitted = LandmarkMap(RBF(1.0), landmarks=20, choice=p, rank=5)
    Z = fitted.fit_transform(X)
    rows, share = fitted.landmark_indices_, p / p.sum()
    S = np.diag(1 / np.sqrt(20 * share[rows]))
    values, vectors = naive.eigh(S @ RBF(1.0)(X[rows]) @ S)
    C = RBF(1.0)(X, X[rows]) @ S
    assert Z.shape == (60, 5)
    assert_close(Z @ Z.T, C @ (vectors[:, :5] / values[:5]) @ vectors[:, :5].T @ C.T, atol=1e-10)


@pytest.mark.parametrize("given", ["exact", 20])
def test_rank_is_kept(given, X):
    K = RBF(1.0)(X)
    Z = LandmarkMap(RBF(1.0), given, rank=5).fit_transform(X)
    assert Z.shape == (60, 5)
    P = LandmarkMap("precomputed", given, rank=5).fit_transform(K)
    assert P.shape == (60, 5)
    values, vectors = naive.eigh(K)
    if given == "exact":  # the best approximation of rank 5 there is
        best = (vectors[:, :5] * values[:5]) @ vectors[:, :5].T
        assert_close(Z @ Z.T, best, atol=1e-9)
        assert_close(P @ P.T, best, atol=1e-9)


def test_given_landmarks(X, new):
    fitted = LandmarkMap(RBF(1.0), landmarks=new)
    Z = fitted.fit_transform(X)
    assert_close(Z @ Z.T, naive.nystrom(RBF(1.0)(X, new), RBF(1.0)(new)), atol=1e-10)
    assert fitted.landmark_indices_ is None
    twice = LandmarkMap(RBF(1.0), landmarks=np.vstack([new, new])).fit_transform(X)
    assert_close(twice @ twice.T, Z @ Z.T, atol=1e-9)
    with pytest.raises(InputError, match=r"landmarks has shape \(9, 2\).*rows with 3 columns"):
        LandmarkMap(RBF(1.0), landmarks=new[:, :2]).fit(X)


def test_more_landmarks_than_rows(X):
    for choice in CHOICES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = LandmarkMap(RBF(1.0), landmarks=1000, choice=choice).fit(X)
        assert fitted.rank_ <= 60
        if choice != "kmeans":
            assert fitted.error_ < 1e-10


@pytest.mark.parametrize("kernel", [RBF("median"), Polynomial(), 0.5 * Matern32("scale") + Linear()])
def test_rules_are_resolved_on_the_training_rows(kernel, X):
    fitted = LandmarkMap(kernel).fit(X)
    assert fitted.kernel_ == kernel.resolve(X)
    assert fitted.error_ < 1e-10


# Backends


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("given", ["exact", 15])
def test_homes_agree(home, choice, given, X, new):
    expected = LandmarkMap(RBF(1.0), given, choice).fit(X)
    fitted = LandmarkMap(RBF(1.0), given, choice)
    data = home(X)
    Z = fitted.fit_transform(data)
    assert type(Z) is type(data)
    Z = np.asarray(Z)
    Z_new = np.asarray(fitted.transform(home(new)))
    wanted = expected.transform(X)
    assert_close(Z @ Z.T, wanted @ wanted.T, atol=1e-9)
    assert_close(Z_new @ Z.T, expected.transform(new) @ wanted.T, atol=1e-9)
    assert_close(np.asarray(fitted.diag(home(new))), np.ones(9))
    for value in vars(fitted).values():  # fitted models contain host arrays only
        assert type(value).__module__.partition(".")[0] not in ("torch", "dask")
    narrow = LandmarkMap(RBF(1.0), given, choice).fit_transform(home(X.astype(np.float32)))
    assert str(narrow.dtype).endswith("float32")
    assert_close(np.asarray(narrow, dtype=np.float64) @ np.asarray(narrow, dtype=np.float64).T, Z @ Z.T, atol=5e-4)


@pytest.mark.parametrize("kernel", [RBF(1.0), Linear(), Laplacian(1.0)], ids=repr)
def test_sparse_rows(kernel, X, new):
    X, new = np.where(X > 0, X, 0), np.where(new > 0, new, 0)
    for fresh in (LandmarkMap(kernel), LandmarkMap(kernel, 10), LandmarkMap(kernel, 10, "kmeans")):
        expected, fitted = clone(fresh).fit_transform(X), clone(fresh)
        Z = fitted.fit_transform(sp.csr_array(X))
        assert isinstance(Z, np.ndarray)
        assert_close(Z @ Z.T, expected @ expected.T, atol=1e-8)
        assert fitted.transform(sp.csr_array(new)).shape == (9, fitted.rank_)


def test_many_rows_go_in_blocks(X, monkeypatch):
    whole = LandmarkMap(RBF(1.0), 10).fit(X)
    expected = whole.transform(X)
    monkeypatch.setattr(landmark, "BLOCK", 7)
    assert_close(whole.transform(X), expected, atol=1e-12)
    monkeypatch.setattr(landmark, "POOL", 30)
    for choice in CHOICES:
        fitted = LandmarkMap(RBF(1.0), 4, choice).fit(X)
        assert fitted.error_ < 0.9
        assert choice != "pivoted" or fitted.learn(X) is None
        if choice != "kmeans":
            assert_array_equal(X[fitted.landmark_indices_], fitted.landmarks_)
    with pytest.raises(BackendError, match="An exact map of 60 Dask rows"):
        import dask.array

        LandmarkMap(RBF(1.0)).fit(dask.array.from_array(X))


@pytest.mark.parametrize("rank", [None, 8])
def test_landmarks_without_features(home, rank, X, new, monkeypatch):
    """Above the size at which all rows are factored, features come from `transform`, the same on every backend."""
    monkeypatch.setattr(landmark, "WHOLE", 20)
    fresh = LandmarkMap(RBF(1.0), 10, rank=rank)
    fitted, expected = clone(fresh), clone(fresh).fit(X)
    assert fitted.learn(home(X)) is None
    assert_array_equal(fitted.landmark_indices_, expected.landmark_indices_)
    rows = X[fitted.landmark_indices_]
    if rank is None:
        wanted = naive.nystrom(RBF(1.0)(X, rows), RBF(1.0)(rows))
        Z = np.asarray(fitted.transform(home(X)))
        assert_close(Z @ Z.T, wanted, atol=1e-9)
    assert_close(np.asarray(fitted.transform(home(new))), expected.transform(new), atol=1e-9)
    assert fitted.error_ == pytest.approx(expected.error_) and fitted.energy_ == pytest.approx(expected.energy_)
    assert_array_equal(LandmarkMap(Linear(), 3).fit_transform(np.zeros((30, 2))), 0)


def test_the_error_is_measured_on_a_sample(X, monkeypatch):
    K = RBF(1.0)(X)
    whole = LandmarkMap(RBF(1.0), 10).fit(X).error_
    sharp = LandmarkMap(RBF(0.1), 10).fit(X).error_  # an error that is almost all on the diagonal
    monkeypatch.setattr(base, "CHECKED_ROWS", 25)
    assert LandmarkMap(RBF(0.1), 10).fit(X).error_ == pytest.approx(sharp, rel=0.1)
    for kernel, data in ((RBF(1.0), X), ("precomputed", K)):
        fitted = LandmarkMap(kernel, 10).fit(data)
        assert fitted.error_ == pytest.approx(whole, rel=0.9)
        assert 0 < fitted.energy_ < 1
        assert LandmarkMap(kernel).fit(data).error_ < 1e-10


# Precomputed and indefinite


def test_precomputed(X, new, home):
    K, K_new = RBF(1.0)(X), RBF(1.0)(new, X)
    for given in ("exact", 60):
        fitted = LandmarkMap("precomputed", given)
        Z = np.asarray(fitted.fit_transform(home(K)))
        assert gap(K, Z) < 1e-10
        assert gap(K_new, Z, np.asarray(fitted.transform(home(K_new)))) < 1e-9
        sparse = LandmarkMap("precomputed", given)
        assert gap(K, sparse.fit_transform(sp.csr_array(K))) < 1e-10
        assert_close(sparse.transform(sp.csr_array(K_new)), sparse.transform(K_new), atol=1e-9)
    few = LandmarkMap("precomputed", 15).fit(K)
    Z = few.transform(K)
    i = few.landmark_indices_
    assert_close(Z @ Z.T, naive.nystrom(K[:, i], K[np.ix_(i, i)]), atol=1e-9)
    assert_close(few.transform(K_new) @ Z.T, K_new[:, i] @ np.linalg.pinv(K[np.ix_(i, i)]) @ K[i], atol=1e-7)


def indefinite(share):
    """60 eigenvalues with that fraction of their absolute sum negative."""
    values = np.linspace(1, 0.1, 60)
    values[-3:] = -share / (1 - share) * values[:-3].sum() / 3
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((60, 60)))[0]
    K = (Q * values) @ Q.T
    return (K + K.T) / 2, values


def test_a_little_negative_spectrum_is_cut_off_silently():
    K, _values = indefinite(0.005)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = LandmarkMap("precomputed").fit(K)
    assert fitted.negative_mass_ == pytest.approx(0.005)
    Z = fitted.transform(K)
    w, V = np.linalg.eigh(K)
    assert_close(Z @ Z.T, (V * w.clip(0)) @ V.T, atol=1e-10)
    assert fitted.rank_ == 57


def test_more_of_it_is_warned_about_and_too_much_refused():
    K, _ = indefinite(0.05)
    with pytest.warns(UserWarning, match=r"5.0% of the spectrum .* is negative .* Its negative part is cut off"):
        fitted = LandmarkMap("precomputed").fit(K)
    assert fitted.negative_mass_ == pytest.approx(0.05) and np.isfinite(fitted.transform(K)).all()
    K, _ = indefinite(0.3)
    with pytest.raises(InputError, match=r"30.0% of the spectrum.*positive semi-definite matrix.*np.linalg.eigh"):
        LandmarkMap("precomputed").fit(K)


def test_indefinite_kernels_by_formula(X):
    kernel = Sigmoid(2.0, -1.0)
    for choice in CHOICES:
        for given in ("exact", 30):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = LandmarkMap(kernel, given, choice).fit(X)
            assert fitted.negative_mass_ > 0
            assert np.isfinite(fitted.transform(X)).all()
    with pytest.warns(UserWarning, match="Its negative part is cut off"):
        LandmarkMap(kernel).fit(X)
    good = LandmarkMap(lambda x, y: float(x @ y)).fit(X)  # a function that happens to be a kernel
    assert good.negative_mass_ == 0 and good.error_ < 1e-10


def test_matrices_that_are_none(X):
    with pytest.raises(InputError, match=r"must be square in fit, got 5 × 60"):
        LandmarkMap("precomputed").fit(RBF(1.0)(X)[:5])
    K = RBF(1.0)(X)
    K[0, 1] += 0.1
    with pytest.raises(InputError, match=r"not symmetric \(entries differ by up to 0.1\).*\(K \+ K.T\) / 2"):
        LandmarkMap("precomputed").fit(K)


# Fourier


@pytest.mark.parametrize("kernel", [RBF(1.5), Exponential(1.5), Laplacian(2.5), Matern32(1.5), Matern52(1.5)], ids=repr)
@pytest.mark.parametrize("orthogonal", [False, True])
@pytest.mark.parametrize("d", [1, 3, 8])
def test_the_frequencies_have_the_kernels_spectrum(kernel, orthogonal, d):
    """The error is that of a mean of bounded terms, 1/√D, and so shrinks only when the density is correct."""
    if orthogonal and isinstance(kernel, Laplacian):
        with pytest.raises(InputError, match="Orthogonal frequencies need a kernel of the Euclidean distance"):
            FourierMap(kernel, orthogonal=True).fit(np.zeros((2, d)))
        return
    X = np.random.default_rng(0).standard_normal((50, d))
    K = kernel(X)
    fitted = FourierMap(kernel, n_features=40_000, orthogonal=orthogonal)
    Z = fitted.fit_transform(X)
    assert np.abs(Z @ Z.T - K).max() < 5 / np.sqrt(20_000)
    assert_close(np.sum(Z**2, axis=1), 1, atol=1e-12)
    assert fitted.error_ == pytest.approx(gap(K, Z)) and fitted.energy_ == pytest.approx(1)


def test_orthogonal_frequencies_have_less_variance():
    X = np.random.default_rng(0).standard_normal((60, 10))
    errors = [
        np.mean([FourierMap(RBF(4.0), 20, o, random_state=s).fit(X).error_ for s in range(20)]) for o in (False, True)
    ]
    assert errors[1] < 0.8 * errors[0]


def test_fourier_in_every_home(home, X, new):
    fitted = FourierMap(RBF(1.0), n_features=101)
    data = home(X.astype(np.float32))
    Z = fitted.fit_transform(data)
    assert type(Z) is type(data) and str(Z.dtype).endswith("float32") and Z.shape == (60, 102)
    assert_close(np.asarray(Z), FourierMap(RBF(1.0), n_features=101).fit_transform(X), atol=1e-4)
    assert fitted.transform(home(new)).shape == (9, 102)
    assert_close(FourierMap(RBF(1.0)).fit_transform(sp.csr_array(X)), FourierMap(RBF(1.0)).fit_transform(X), atol=1e-12)


def test_fourier_refusals(X):
    for kernel in (Linear(), RBF(1.0) + RBF(2.0), 2 * RBF(1.0), "precomputed"):
        with pytest.raises(InputError, match=r"has no random Fourier features.*use LandmarkMap"):
            FourierMap(kernel).fit(X)
    with pytest.raises(InputError, match="n_features=1 is not accepted"):
        FourierMap(RBF(1.0), n_features=1).fit(X)


# Choosing


def test_choose_says_why(X, monkeypatch):
    assert choose_map("rbf", "exact", X)[1] == "The exact kernel was requested."
    chosen, reason = choose_map("rbf", 25, X)
    assert chosen.landmarks == 25 and reason == "You requested 25 landmarks."
    chosen, reason = choose_map("rbf", "auto", X)
    assert chosen.landmarks == "exact" and reason == "60 rows are few enough for the exact kernel (limit 3000)."
    chosen, reason = choose_map("precomputed", "auto", X)
    assert reason == "A precomputed kernel is used exactly."
    many = np.zeros((5000, 1))
    chosen, reason = choose_map("rbf", "auto", many)
    assert chosen.landmarks == 1000
    assert "5000 rows are too many" in reason and "200.0 MB" in reason and "1000 landmarks need 40.0 MB" in reason
    monkeypatch.setattr("mercer.backend.memory_available", lambda device=None: 5000 * 8 * 4 * 200)
    assert choose_map("rbf", "auto", many)[0].landmarks == 200


def test_choose_on_dask_does_not_speak_of_too_many_rows():
    import dask.array

    chosen, reason = choose_map("rbf", "auto", dask.array.zeros((100, 2)))
    assert chosen.landmarks == 1000
    assert "Dask" in reason and "too many" not in reason


def test_choose_takes_a_map_and_leaves_it_alone(X):
    given = FourierMap(n_features=10, random_state=5).fit(X)
    chosen, reason = choose_map(RBF(3.0), given, X)
    assert chosen is not given and chosen.kernel == RBF(3.0) and chosen.n_features == 10 and chosen.random_state == 5
    assert given.kernel == "rbf" and reason == "You gave the map FourierMap."
    assert not hasattr(chosen, "frequencies_")  # nothing of the old fit


@pytest.mark.parametrize("wrong", ["some", 0, -3, 2.5, True, None, [5]])
def test_choose_refusals(wrong, X):
    with pytest.raises(InputError, match=r"approx=.* is not accepted. Use 'auto', 'exact', a number of landmarks"):
        choose_map("rbf", wrong, X)


@pytest.mark.parametrize("wrong", ["some", 0, -3])
def test_landmark_refusals(wrong, X):
    with pytest.raises(InputError, match=r"landmarks=.* is not accepted. Use 'exact'"):
        LandmarkMap("rbf", landmarks=wrong).fit(X)
    with pytest.raises(InputError, match="choice='best' is not accepted. Use pivoted, uniform, kmeans, leverage"):
        LandmarkMap("rbf", 5, choice="best").fit(X)


# As transformers


def test_a_refit_forgets_the_old_fit(X):
    fitted = LandmarkMap(RBF(1.0), 10).fit(X)
    assert fitted.reason_ == "10 landmarks represent 60 rows (Nyström)."
    fitted.set_params(landmarks="exact").fit(X[:20])
    assert fitted.reason_ == "20 exact features reproduce the kernel of 20 rows to working precision."


def test_in_a_pipeline(X):
    scores = make_pipeline(LandmarkMap(RBF(1.0)), PCA(2)).fit_transform(X)
    assert scores.shape == (60, 2)
    assert make_pipeline(FourierMap(RBF(1.0), 20), PCA(2)).fit(X).transform(X).shape == (60, 2)


@pytest.mark.parametrize("seed", [None, 3, np.random.RandomState(0)])
def test_seeds(seed, X):
    for fitted in (LandmarkMap(RBF(1.0), 10, random_state=seed), FourierMap(RBF(1.0), 10, random_state=seed)):
        assert np.isfinite(fitted.fit_transform(X)).all()
    assert_array_equal(
        LandmarkMap(RBF(1.0), 10, random_state=3).fit(X).landmark_indices_,
        LandmarkMap(RBF(1.0), 10, random_state=3).fit(X).landmark_indices_,
    )


def test_choices_alone(X):
    rng = np.random.default_rng(0)
    for name, choice in landmarks.CHOICES.items():
        chosen = choice(X, RBF(1.0), 7, rng)
        assert chosen.shape == ((7, 3) if name == "kmeans" else (7,))
        assert name == "kmeans" or len(set(chosen)) == 7


@pytest.mark.parametrize("choice", ["kmeans", "leverage", "best", np.full(40, 1 / 40)])
def test_a_precomputed_kernel_does_not_ignore_the_choice(choice):
    K = RBF(1.0)(np.random.default_rng(0).standard_normal((40, 3)))
    name = choice if isinstance(choice, str) else "probabilities"
    with pytest.raises(InputError, match=rf"choice='{name}' is not accepted for a precomputed kernel. Use 'uni"):
        LandmarkMap("precomputed", 10, choice=choice).fit(K)
    same = [LandmarkMap("precomputed", 10, choice=c).fit(K).landmark_indices_ for c in ("uniform", "pivoted")]
    assert_array_equal(*same)
