"""Factors, ranks and signs of small dense matrices."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mercer import linalg
from mercer.errors import InputError
from naive import assert_close


def spd(n, rank=None, seed=0, dtype=np.float64):
    A = np.random.default_rng(seed).standard_normal((n, rank or 2 * n)).astype(dtype)
    return A @ A.T


def factor(K, max_rank=None, seed=None, dtype=np.float64, diag=None):
    rng = None if seed is None else np.random.default_rng(seed)
    diag = np.diag(K) if diag is None else diag
    return linalg.pivoted_cholesky(lambda i, j: K[np.ix_(i, j)], diag, max_rank or len(K), dtype, rng)


def check_shape(K, pivots, F, residual, rtol):
    """What is valid for every prediction: distinct pivots, a triangle, exact rows at the pivots, an unbiased
    residual.
    """
    scale = np.abs(K).max(initial=0.0)
    assert len(set(pivots.tolist())) == len(pivots) == F.shape[1]
    assert_array_equal(np.triu(F[pivots], 1), 0)
    assert np.all(np.diag(F[pivots]) > 0)
    assert np.all(residual >= 0)
    assert_close((F @ F.T)[:, pivots], K[:, pivots], atol=rtol * scale)
    assert_close(residual, np.diag(K) - np.sum(F.astype(np.float64) ** 2, axis=1), atol=rtol * scale)


either = pytest.mark.parametrize("seed", [None, 0, 1], ids=["greedy", "random 0", "random 1"])


@either
@pytest.mark.parametrize("n", [1, 2, 30, 300])
def test_full_rank_is_cholesky_of_the_permuted_matrix(n, seed):
    K = spd(n)
    pivots, F, residual = factor(K, seed=seed)
    check_shape(K, pivots, F, residual, 1e-12)
    assert len(pivots) == n
    assert_close(F @ F.T, K, atol=1e-12 * np.abs(K).max())
    assert_close(F[pivots], np.linalg.cholesky(K[np.ix_(pivots, pivots)]), atol=1e-9)


@either
@pytest.mark.parametrize("dtype, rtol", [(np.float64, 1e-12), (np.float32, 2e-5)])
def test_rank_deficiency_is_found(seed, dtype, rtol):
    K = spd(200, rank=7, dtype=dtype)
    pivots, F, residual = factor(K, seed=seed, dtype=dtype)
    assert F.dtype == dtype
    assert len(pivots) == 7
    check_shape(K, pivots, F, residual, rtol)
    assert_close(F @ F.T, K, atol=rtol * np.abs(K).max())


@either
def test_a_kernel_with_a_decaying_spectrum(seed):
    x = np.linspace(0, 1, 400)[:, None]
    K = np.exp(-((x - x.T) ** 2) / 0.02)
    for dtype, rtol, most in [(np.float64, 3e-13, 60), (np.float32, 2e-4, 40)]:
        pivots, F, residual = factor(K.astype(dtype), seed=seed, dtype=dtype)
        assert len(pivots) < most
        check_shape(K, pivots, F, residual, rtol)
        assert_close(F @ F.T, K, atol=rtol)


@either
def test_duplicate_rows_are_pivots_once(seed):
    base = spd(20)
    repeat = np.repeat(np.arange(20), 5)
    pivots, F, _ = factor(base[np.ix_(repeat, repeat)], seed=seed)
    assert sorted(repeat[pivots]) == list(range(20))
    assert_close(F @ F.T, base[np.ix_(repeat, repeat)], atol=1e-11 * base.max())


@either
def test_zero_matrix_has_rank_zero(seed):
    pivots, F, residual = factor(np.zeros((5, 5)), seed=seed)
    assert len(pivots) == 0 and F.shape == (5, 0)
    assert_array_equal(residual, 0)


@either
def test_max_rank_stops_early_and_the_residual_is_true(seed):
    K = spd(80)
    pivots, F, residual = factor(K, max_rank=40, seed=seed)
    assert F.shape == (80, 40)
    check_shape(K, pivots, F, residual, 1e-12)
    left = K - F @ F.T
    assert_close(residual, np.diag(left), atol=1e-10)
    assert np.linalg.eigvalsh(left).min() > -1e-9  # never above K


def test_scales_do_not_matter():
    K = spd(40, rank=9)
    for scale in (1e-250, 1e-30, 1e30, 1e250):
        pivots, F, _ = factor(K * scale)
        assert len(pivots) == 9
        assert_close(F @ F.T / scale, K, atol=1e-11 * K.max())


def test_zero_rows_among_others():
    K = np.zeros((6, 6))
    K[np.ix_([1, 4], [1, 4])] = [[2.0, 1.0], [1.0, 2.0]]
    pivots, F, _ = factor(K)
    assert sorted(pivots) == [1, 4]
    assert_close(F @ F.T, K, atol=1e-15)


def test_greedy_takes_the_largest_diagonal_first():
    pivots, _, _ = factor(np.diag([3.0, 9.0, 1.0, 5.0]))
    assert_array_equal(pivots, [1, 3, 0, 2])


def test_random_pivots_are_drawn_in_proportion_to_the_residual():
    """Two equal clusters of unequal size, whose pair of pivots must be as from one draw after the other."""
    K = np.full((6, 6), 0.9) + 0.1 * np.eye(6)
    K[:2, 2:] = K[2:, :2] = 0.0
    first, both = np.zeros(6), np.zeros((6, 6))
    draws = 4000
    for seed in range(draws):
        pivots, _, _ = factor(K, max_rank=2, seed=seed)
        first[pivots[0]] += 1
        both[pivots[0], pivots[1]] += 1
    expected = np.zeros((6, 6))
    for i in range(6):
        left = np.diag(K) - K[:, i] ** 2 / K[i, i]
        expected[i] = left / left.sum() / 6
    assert np.abs(first / draws - 1 / 6).max() < 4 * np.sqrt(1 / 6 / draws)
    assert np.abs(both / draws - expected).max() < 4 * np.sqrt(expected.max() / draws)


# Random pivots without the factor


def some_pivots(K, number, seed=0, dtype=np.float64, asked=None):
    def block(i, j):
        if asked is not None:
            asked.append(len(i) * len(j))
        return K[np.ix_(i, j)]

    return linalg.random_pivots(block, np.diag(K), number, dtype, np.random.default_rng(seed))


@pytest.mark.parametrize("dtype, rtol", [(np.float64, 1e-12), (np.float32, 2e-5)])
@pytest.mark.parametrize("n, number", [(1, 1), (3, 2), (30, 40), (200, 1), (200, 3), (200, 150), (900, 70)])
def test_random_pivots_come_with_the_root_of_their_block(n, number, dtype, rtol):
    K = spd(n, dtype=dtype)
    pivots, root = some_pivots(K, number, dtype=dtype)
    assert len(set(pivots.tolist())) == len(pivots) == min(n, number) and root.dtype == dtype
    assert_array_equal(np.triu(root, 1), 0)
    assert_close(root @ root.T, K[np.ix_(pivots, pivots)], atol=rtol * np.abs(K).max())


def test_random_pivots_stop_at_the_rank():
    assert len(some_pivots(spd(300, rank=7), 40)[0]) == 7
    assert len(some_pivots(np.zeros((5, 5)), 2)[0]) == 0
    x = np.linspace(0, 1, 900)[:, None]
    K = np.exp(-((x - x.T) ** 2) / 0.02)  # rounding is reached on the way, and the rest is greedy
    pivots, root = some_pivots(K, 100)
    assert 20 < len(pivots) < 60
    assert_close(root @ root.T, K[np.ix_(pivots, pivots)], atol=1e-12)


def test_rows_that_were_let_go_are_still_stood_for():
    """Rows that nothing explains must be the second pivot equally often, though half are excluded by then."""
    draws, second = 2000, np.zeros(24)
    for seed in range(draws):
        pivots, _ = some_pivots(np.eye(24), 4, seed)
        second[pivots[1]] += 1
    assert np.abs(second / draws - 1 / 24).max() < 4 * np.sqrt(1 / 24 / draws)
    rounds = linalg._Rounds(
        lambda i, j: np.eye(400)[np.ix_(i, j)], np.ones(400), 40, np.float64, np.random.default_rng(0)
    )
    rounds.advance()
    rounds._thin(100)
    assert len(rounds.order) == 100 and rounds.weight[rounds.rank :].sum() == pytest.approx(400 - rounds.rank)


def test_random_pivots_are_as_good_as_those_of_the_factor():
    """Most rows are in one heap, few in many small ones. Pivots find those, and more uniform draws miss them."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 0.3, (900, 2)), rng.uniform(-10, 10, (60, 2))])
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1) / 2)

    def left(pivots):
        return np.trace(K - K[:, pivots] @ np.linalg.pinv(K[np.ix_(pivots, pivots)], rcond=1e-12) @ K[pivots])

    seeds, asked, all_asked = range(8), [], []
    thinned = np.mean([left(some_pivots(K, 40, s, asked=asked)[0]) for s in seeds])
    whole = np.mean([left(factor(K, 40, s)[0]) for s in seeds])
    uniform = np.mean([left(np.random.default_rng(s).choice(960, 40, replace=False)) for s in seeds])
    assert thinned < 1.15 * whole
    assert thinned < 0.5 * uniform
    for seed in seeds:

        def block(i, j):
            all_asked.append(len(i) * len(j))
            return K[np.ix_(i, j)]

        linalg.pivoted_cholesky(block, np.diag(K), 40, rng=np.random.default_rng(seed))
    assert sum(asked) < 0.6 * sum(all_asked)


def test_safe_cholesky():
    K = spd(10)
    L, jitter = linalg.safe_cholesky(K)
    assert jitter == 0
    assert_close(L @ L.T, K)
    L, jitter = linalg.safe_cholesky(spd(10, rank=3))
    assert 0 < jitter < 1e-7 * 10
    with pytest.raises(InputError, match=r"should be positive definite is not.*Check the kernel"):
        linalg.safe_cholesky(np.diag([1.0, -1.0]))


def test_eigh_down():
    K = spd(12)
    values, vectors = linalg.eigh_down(K)
    assert np.all(np.diff(values) <= 0)
    assert_close(K @ vectors, vectors * values, atol=1e-11)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_few_and_many_leading_eigenpairs_are_those_of_the_whole_spectrum(dtype):
    K = spd(40).astype(dtype)
    values, vectors = linalg.eigh_down(K)
    atol = 1e3 * np.finfo(dtype).eps * values[0]
    for number in (1, 4, 6, 20, 39):  # up to an eighth one by one, then side by side
        some, own = linalg.eigh_down(K, number)
        assert some.shape == (number,) and own.shape == (40, number) and own.dtype == dtype
        assert_close(some, values[:number], atol=atol)
        assert_close(linalg.fix_signs(own), linalg.fix_signs(vectors[:, :number]), atol=np.sqrt(np.finfo(dtype).eps))
        assert_close(K @ own, own * some, atol=atol)
        assert_close(own.T @ own, np.eye(number), atol=1e2 * np.finfo(dtype).eps)


def test_signs_make_the_largest_entry_positive():
    V = np.array([[1.0, -5.0, 2.0, 0.0], [-3.0, 4.0, -2.0, 0.0]])
    assert_array_equal(linalg.fix_signs(V), [[-1.0, 5.0, 2.0, 0.0], [3.0, -4.0, -2.0, 0.0]])
    assert_array_equal(linalg.sign_rows(np.empty((0, 2))), [1, 1])


def test_rank_and_negative_mass():
    assert linalg.rank_of(np.array([1.0, 1e-3, 1e-17]), np.finfo(float).eps) == 2
    assert linalg.rank_of(np.array([0.0, 0.0]), 1e-16) == 0
    assert linalg.rank_of(np.array([]), 1e-16) == 0
    assert linalg.negative_mass(np.array([3.0, -1.0])) == pytest.approx(0.25)
    assert linalg.negative_mass(np.zeros(3)) == 0


def test_precision_of_numpy_and_torch_dtypes():
    import torch

    for dtype in (np.float32, np.dtype(np.float32), torch.float32):
        assert linalg.precision(dtype) == np.finfo(np.float32).eps
    for dtype in (np.float64, torch.float64):
        assert linalg.precision(dtype) == np.finfo(np.float64).eps


def test_leading_eigenpairs_survive_a_range_of_equal_values():
    """LAPACK's range loses eigenvalues of I − 11ᵀ/n, sometimes all of them."""
    for n in (50, 258, 300):
        A = np.eye(n) - 1.0 / n
        values, vectors = linalg.eigh_down(A, 2)
        np.testing.assert_allclose(values, 1.0)
        np.testing.assert_allclose(A @ vectors, vectors, atol=1e-12)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(2), atol=1e-12)
    B = np.diag([3.0, 1.0, 5.0, 2.0])
    for number in (None, 1, 2, 3, 4):
        np.testing.assert_allclose(linalg.eigh_down(B, number)[0], [5.0, 3.0, 2.0, 1.0][:number])
        assert linalg.eigh_down(B, number)[1].shape == (4, number or 4)
