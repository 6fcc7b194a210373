"""The label search against brute force, against Algorithm 2 written out slowly, and against its own promises."""

import itertools
import subprocess
import sys

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.solvers.label_search.solve import choose_form, count_bounds, label_search

LAM, LAM_UNLABELED = 0.1, 0.7


def factor(K, l, lam=LAM, lam_unlabeled=LAM_UNLABELED):
    """W and the constant of F, from the dense formula D V (Λ(Λ+λ)⁻¹)^½."""
    u = len(K) - l
    d = np.r_[np.full(l, 1 / np.sqrt(max(l, 1))), np.full(u, np.sqrt(lam_unlabeled / u))]
    values, V = np.linalg.eigh(d[:, None] * K * d)
    values = np.maximum(values, 0.0)
    return d[:, None] * V * np.sqrt(values / (values + lam)), float(d @ d), d


def naive_value(K, d, y, lam=LAM):
    """min_c ‖D(y − Kc)‖² + λ cᵀKc by the formula of the minimizer, in O(n³)."""
    c = d * np.linalg.solve(d[:, None] * K * d + lam * np.eye(len(K)), d * y)
    residual = d * (y - K @ c)
    return residual @ residual + lam * c @ K @ c


def kernel(rng, n, p=3):
    X = rng.normal(size=(n, p))
    return np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 4)


def instance(seed, n, l, k=2):
    rng = np.random.default_rng(seed)
    K = kernel(rng, n)
    W, total, d = factor(K, l)
    labels = np.full(n, -1)
    labels[:l] = np.arange(l) % k
    return K, W, total, d, labels


def one_hot_value(W, total, labels, k):
    """Mean over the classes of total − ‖Wᵀ(±1 membership)‖²."""
    return np.mean([total - np.sum((W.T @ np.where(labels == c, 1.0, -1.0)) ** 2) for c in range(k)])


def brute_force(W, total, labels, bounds, k):
    free = np.flatnonzero(labels < 0)
    best = np.inf
    for guess in itertools.product(range(k), repeat=len(free)):
        counts = np.bincount(guess, minlength=k)
        if np.all(counts >= bounds[:, 0]) and np.all(counts <= bounds[:, 1]):
            full = labels.copy()
            full[free] = guess
            best = min(best, one_hot_value(W, total, full, k))
    return best


@pytest.mark.parametrize("form", ["dense", "low_rank"])
@pytest.mark.parametrize("shares, slack", [([0.5, 0.5], 0.2), ([0.7, 0.3], 0.06), (None, 0.1)])
def test_two_classes_reach_the_optimum_of_all_labelings(form, shares, slack):
    for seed in range(4):
        _, W, total, _, labels = instance(seed, n=13, l=3)
        bounds = np.array([[0, 10], [0, 10]]) if shares is None else count_bounds(10, shares, slack)
        found = label_search(
            W, labels, shares=shares, slack=slack, total=total, form=form, random_state=seed, n_restarts=20
        )
        assert found.objective == pytest.approx(brute_force(W, total, labels, bounds, 2), abs=1e-12)


@pytest.mark.parametrize("form", ["dense", "low_rank"])
@pytest.mark.parametrize("l", [0, 3])
def test_three_classes_reach_the_optimum_of_all_labelings(form, l):
    for seed in range(3):
        _, W, total, _, labels = instance(seed, n=8 + l, l=l, k=3)
        shares = [0.4, 0.35, 0.25]
        bounds = count_bounds(8, shares, 0.15)
        found = label_search(
            W, labels, shares=shares, slack=0.15, total=total, form=form, random_state=seed, n_restarts=20
        )
        assert found.objective == pytest.approx(brute_force(W, total, labels, bounds, 3), abs=1e-12)


@pytest.mark.parametrize("search", ["tabu", "ea", "round_robin"])
def test_reported_value_is_the_formula_without_the_shortcut(search):
    K, W, total, d, labels = instance(1, n=30, l=6)
    found = label_search(W, labels, shares=[0.5, 0.5], total=total, search=search, random_state=0, n_restarts=3)
    y = np.where(found.value == 1, 1.0, -1.0)
    assert total == pytest.approx(1 + LAM_UNLABELED)
    assert found.objective == pytest.approx(naive_value(K, d, y), abs=1e-10)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("search", ["tabu", "ea", "round_robin"])
@pytest.mark.parametrize("form", ["dense", "low_rank"])
def test_certificates(search, k, form):
    _, W, total, _, labels = instance(2, n=40, l=2 * k, k=k)
    shares = np.full(k, 1 / k)
    found = label_search(W, labels, shares=shares, total=total, search=search, form=form, random_state=0, n_restarts=4)
    assert np.array_equal(found.value[: 2 * k], labels[: 2 * k])  # pinned labels never move
    counts = np.bincount(found.value[2 * k :], minlength=k)
    assert np.all(np.abs(counts / (40 - 2 * k) - shares) < 0.1)
    assert found.objective == pytest.approx(one_hot_value(W, total, found.value, k), abs=1e-12)
    assert found.info["bound"] <= found.objective and found.gap == pytest.approx(found.objective - found.info["bound"])
    changes = []  # of every valid single move, from scratch
    bounds = found.info["count_bounds"]
    for j in range(2 * k, 40):
        for b in set(range(k)) - {found.value[j]}:
            moved = found.value.copy()
            moved[j] = b
            new = np.bincount(moved[2 * k :], minlength=k)
            if np.all(new >= bounds[:, 0]) and np.all(new <= bounds[:, 1]):
                changes.append(one_hot_value(W, total, moved, k) - found.objective)
    assert found.info["best_move"] == pytest.approx(min(changes), abs=1e-12)
    if search != "ea":  # its stop rule draws at random, so it may miss a move
        assert found.info["best_move"] >= -1e-12


@pytest.mark.parametrize(
    "shares, slack, l", [([0.5, 0.5], 0.1, 3), ([0.8, 0.2], 0.15, 3), (None, 1.0, 3), ([0.5, 0.5], 0.1, 0)]
)
def test_spectral_bound_is_below_the_optimum_and_above_the_plain_one(shares, slack, l):
    for seed in range(3):
        _, W, total, _, labels = instance(seed, n=10 + l, l=l)
        bounds = np.array([[0, 10], [0, 10]]) if shares is None else count_bounds(10, shares, slack)
        info = label_search(W, labels, shares=shares, slack=slack, total=total, random_state=0, n_restarts=1).info
        plain = total - len(W) * np.linalg.norm(W, 2) ** 2
        assert plain - 1e-9 <= info["bound"] <= brute_force(W, total, labels, bounds, 2) + 1e-12


def test_spectral_bound_from_leading_eigenpairs_only():
    rng = np.random.default_rng(0)
    W = rng.normal(size=(450, 420)) * 0.99 ** np.arange(420)
    labels = np.r_[0, 1, np.full(448, -1)]
    found = label_search(W, labels, shares=[0.5, 0.5], random_state=0, n_restarts=1)
    lead = label_search(W[:, :400], labels, shares=[0.5, 0.5], random_state=0, n_restarts=1)  # every eigenpair
    assert lead.info["bound"] + found.info["bound"] < 0
    assert found.info["bound"] <= found.objective
    assert found.info["bound"] <= lead.info["bound"]  # fewer columns can only raise F


def test_spectral_bound_where_lapack_loses_equal_eigenvalues_of_a_range():
    found = label_search(np.eye(450), np.full(450, -1), total=450.0, n_restarts=1, random_state=0)
    assert found.info["bound"] == pytest.approx(0.0, abs=1e-5)


def test_spectral_bound_where_all_singular_values_are_equal():
    """Lanczos does not converge here, and would miss copies. On the sphere the bound is known."""
    rng = np.random.default_rng(1)
    n, r = 500, 450
    U = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, r))]))[0][:, 1:]  # no mean
    turned = U @ np.linalg.qr(rng.normal(size=(r, r)))[0]
    uneven = U * np.linspace(1.0, 0.9, r)
    for W in (U, turned):
        found = label_search(W, np.full(n, -1), total=float(n), n_restarts=1, random_state=0)
        assert found.info["bound"] == pytest.approx(0.0, abs=1e-5)  # n − n·1
        assert found.objective >= found.info["bound"]
    diagonal = label_search(uneven, np.full(n, -1), total=float(n), n_restarts=1, random_state=0)
    rotated = label_search(uneven @ np.linalg.qr(rng.normal(size=(r, r)))[0], np.full(n, -1), total=float(n))
    assert rotated.info["bound"] <= diagonal.info["bound"] + 1e-6 <= diagonal.objective + 1e-6
    assert rotated.info["bound"] == pytest.approx(diagonal.info["bound"], abs=1e-5)


def splitmix(state):
    """The kernels' random numbers, written out with Python integers."""
    full = (1 << 64) - 1

    def below(m):
        state[0] = (state[0] + 0x9E3779B97F4A7C15) & full
        z = state[0]
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & full
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & full
        return ((z ^ (z >> 31)) >> 11) % m

    return below


def test_evolution_is_algorithm_2():
    """The kernel makes the same population as Algorithm 2 with every fitness computed from scratch."""
    from mercer.solvers.label_search.compiled import evolve

    K, W, _, d, labels = instance(5, n=20, l=4)
    free = np.flatnonzero(labels < 0)
    rng = np.random.default_rng(0)
    population = np.tile(labels, (3, 1))
    population[:, free] = rng.permuted(np.tile(np.arange(16) % 2, (3, 1)), axis=1)
    low, high = np.array([6, 6]), np.array([10, 10])

    below, slow, unchanged = splitmix([77]), [row.copy() for row in population], 0
    while unchanged < 20:
        children = []
        for _ in range(5):
            parent = slow[below(3)]
            while True:
                child = parent.copy()
                j = free[below(16)]
                child[j] = (child[j] + 1 + below(1)) % 2
                if 6 <= np.sum(child[free] == 1) <= 10:
                    break
            children.append(child)
        fitness = [naive_value(K, d, 2.0 * y - 1) for y in slow + children]
        order = np.argsort(np.round(fitness, 12), kind="stable")[:3]
        unchanged = unchanged + 1 if max(order) < 3 else 0
        slow = [(slow + children)[i] for i in order]

    norms = np.sum(W * W, axis=1)
    state, stop = np.array([77], dtype=np.uint64), np.zeros(1, dtype=np.uint8)
    evolve(W, norms, free, population, low, high, 5, 20, state, stop)
    assert np.array_equal(population, np.array(slow))


def test_round_robin_is_the_one_plus_one_scheme():
    from mercer.solvers.label_search.compiled import class_sums, round_robin

    K, W, _, d, labels = instance(6, n=25, l=5)
    free = np.flatnonzero(labels < 0)
    start = labels.copy()
    start[free] = np.random.default_rng(1).permutation(20) % 2
    slow, value, unchanged, position = start.copy(), naive_value(K, d, 2.0 * start - 1), 0, 0
    while unchanged < 20:
        child = slow.copy()
        j = free[position % 20]
        child[j] = 1 - child[j]
        new = naive_value(K, d, 2.0 * child - 1)
        if 8 <= np.sum(child[free]) <= 12 and new < value - 1e-12:
            slow, value, unchanged = child, new, 0
        else:
            unchanged += 1
        position += 1
    args = class_sums(W, start, 2), np.array([10, 10]), np.array([8, 8]), np.array([12, 12]), np.zeros(1, np.uint8)
    round_robin(W, np.sum(W * W, axis=1), free, start, *args)
    assert np.array_equal(start, slow)


def test_two_class_tabu_takes_the_steps_of_the_general_one():
    """Two programs with the same random numbers have the same path, with flips only, with swaps only, with both."""
    from mercer.solvers.label_search.compiled import tabu, tabu_two

    rng = np.random.default_rng(0)
    W = rng.normal(size=(60, 8)) / 60
    M = W @ W.T
    for low in (0, 26, 30):
        labels = np.arange(60) % 2
        sign = 2.0 * labels - 1
        scores = W @ np.stack([W[labels == 0].sum(0), W[labels == 1].sum(0)]).T
        half = np.diag(M) - sign * (scores[:, 1] - scores[:, 0])
        bounds = np.array([low, low]), np.array([60 - low, 60 - low])
        common = 300, np.array([9], dtype=np.uint64), np.zeros(1, np.uint8)
        gain = tabu(M, scores, labels, np.array([30, 30]), *bounds, common[0], common[1].copy(), common[2])
        gain_two = tabu_two(M, half, sign, 30, low, 60 - low, *common)
        assert np.array_equal(labels, sign > 0)
        assert gain == pytest.approx(gain_two)
        start = 2.0 * (np.arange(60) % 2) - 1
        assert gain[0] == pytest.approx((np.sum((W.T @ sign) ** 2) - np.sum((W.T @ start) ** 2)) / 2)


@pytest.mark.parametrize("search", ["tabu", "ea", "round_robin"])
def test_same_answer_for_a_seed_at_any_number_of_threads(search):
    _, W, total, _, labels = instance(3, n=60, l=4)
    runs = [
        label_search(
            W, labels, shares=[0.5, 0.5], total=total, search=search, n_jobs=n_jobs, random_state=4, n_restarts=6
        )
        for n_jobs in (1, 2, 5)
    ]
    for run in runs[1:]:
        assert np.array_equal(run.value, runs[0].value)
        assert np.array_equal(run.info["objectives"], runs[0].info["objectives"])
    other = label_search(W, labels, shares=[0.5, 0.5], total=total, search=search, random_state=5, n_restarts=6)
    assert not np.array_equal(other.info["objectives"], runs[0].info["objectives"]) or search == "tabu"


def test_low_rank_form_searches_the_rows_near_a_change(monkeypatch):
    """More rows than candidates. Five descents use one tabu search, at any number of threads, to a one-flip optimum."""
    import mercer.solvers.label_search.solve as module

    monkeypatch.setattr(module, "CANDIDATES", 15)
    for k in (2, 3):
        _, W, total, _, labels = instance(11, n=80, l=2 * k, k=k)
        options = {"shares": np.full(k, 1 / k), "total": total, "form": "low_rank", "random_state": 2}
        runs = [label_search(W, labels, n_restarts=12, n_jobs=n_jobs, **options) for n_jobs in (1, 2, 5)]
        for run in runs:
            assert np.array_equal(run.value, runs[0].value)
            assert np.array_equal(run.info["objectives"], runs[0].info["objectives"])
            assert run.n_iter == 12 and len(run.info["objectives"]) == (3 if k == 2 else 12)
            assert run.info["best_move"] >= -1e-12
            assert np.array_equal(run.value[: 2 * k], labels[: 2 * k])
        descents = label_search(W, labels, n_restarts=12, search="round_robin", **options)
        assert runs[0].objective <= descents.objective + 1e-12


def test_start_is_where_the_first_search_begins():
    _, W, total, _, labels = instance(12, n=60, l=4)
    options = {"shares": [0.5, 0.5], "total": total, "random_state": 0}
    best = label_search(W, labels, n_restarts=50, **options)
    for form in ("dense", "low_rank"):
        again = label_search(W, labels, n_restarts=1, start=best.value, form=form, **options)
        assert again.objective <= best.objective + 1e-12
    wrong = np.zeros(60, dtype=int)  # against the pinned labels and against the balance
    found = label_search(W, labels, n_restarts=1, start=wrong, patience=1, **options)
    assert np.array_equal(found.value[:4], labels[:4])
    assert abs(np.mean(found.value[4:]) - 0.5) < 0.1
    for start in (np.zeros(59, dtype=int), np.full(60, 2), np.full(60, -1)):
        with pytest.raises(InputError, match=r"start has shape .*must contain 60 classes 0 … 1"):
            label_search(W, labels, start=start, **options)


def test_exact_balance_is_reached_by_swaps_and_refused_by_flips():
    _, W, total, _, labels = instance(7, n=16, l=4)
    bounds = count_bounds(12, [0.5, 0.5], 0.01)
    assert bounds.tolist() == [[6, 6], [6, 6]]
    found = label_search(W, labels, shares=[0.5, 0.5], slack=0.01, total=total, random_state=0)
    assert found.objective == pytest.approx(brute_force(W, total, labels, bounds, 2), abs=1e-12)
    with pytest.raises(InputError, match=r"one label at a time.*\[6, 6\].*search='tabu'"):
        label_search(W, labels, shares=[0.5, 0.5], slack=0.01, search="ea")


def test_time_budget_returns_the_best_so_far_and_says_so():
    rng = np.random.default_rng(0)
    W = rng.normal(size=(600, 20)) / 600
    labels = np.r_[0, 1, np.full(598, -1)]
    found = label_search(
        W, labels, shares=[0.5, 0.5], n_restarts=10**6, patience=10**9, time_budget=0.2, random_state=0
    )
    assert not found.converged and "time budget" in found.reason
    assert abs(np.mean(found.value[2:]) - 0.5) < 0.1
    nothing = label_search(W, labels, shares=[0.5, 0.5], time_budget=0.0, random_state=0)
    assert nothing.value.min() == 0 and nothing.objective >= found.objective


def test_progress_and_rates(capsys):
    _, W, total, _, labels = instance(8, n=30, l=4)
    found = label_search(W, labels, shares=[0.5, 0.5], total=total, n_restarts=3, random_state=0, verbose=1)
    assert capsys.readouterr().out.count("restarts, best F =") == 3
    plain = label_search(W, labels, shares=[0.5, 0.5], total=total, n_restarts=3, random_state=0, certify=False)
    assert plain.objective == found.objective and np.isnan(plain.gap) and np.isnan(plain.info["best_move"])
    assert found.info["evaluations_per_second"] == pytest.approx(found.info["evaluations"] / found.info["seconds"])
    assert found.history == sorted(found.history, reverse=True)


def test_nothing_to_search_and_rows_of_zeros():
    _, W, total, _, labels = instance(9, n=10, l=4)
    for search in ("tabu", "ea", "round_robin"):
        pinned = label_search(W, np.arange(10) % 2, total=total, search=search)
        assert np.array_equal(pinned.value, np.arange(10) % 2) and pinned.gap == pytest.approx(0, abs=1e-12)
    zeros = label_search(np.zeros((10, 3)), labels, shares=[0.5, 0.5], total=total, random_state=0, n_restarts=2)
    assert zeros.objective == pytest.approx(total)


def test_form_follows_the_cost():
    assert choose_form(800, 256, 2, 50) == "dense"
    assert choose_form(200_000, 100, 2, 50) == "low_rank"
    assert choose_form(3000, 3000, 2, 50) == "dense"
    assert choose_form(10_000, 20, 2, 1) == "low_rank"


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            {"shares": [0.5, 0.5], "slack": 0.01},
            r"0\.5 of 7 unlabeled rows is 3\.5.*counts are 3 and 4.*slack above 0\.0714",
        ),
        ({"shares": [0.5, 0.6]}, r"sum to 1"),
        ({"shares": [0.5, 0.5], "slack": 0}, r"balance_slack is 0\. It must be positive"),
        ({"shares": [0.3, 0.3, 0.4], "n_classes": 2}, r"3 class fractions for 2 classes"),
        (
            {"shares": [0.34, 0.34, 0.32], "slack": 0.06},
            r"\[2, 2, 2\] to \[2, 2, 2\] rows, at most 6 in all.*7 unlabeled",
        ),
        ({"search": "genetic"}, r"search is 'genetic'"),
        ({"form": "sparse"}, r"form is 'sparse'\. It must be one of 'auto', 'dense', 'low_rank'"),
        ({"n_restarts": 0}, r"n_restarts is 0"),
        ({"n_classes": 1}, r"at least 2 classes"),
    ],
)
def test_refusals(arguments, message):
    _, W, _, _, labels = instance(0, n=10, l=3)
    with pytest.raises(InputError, match=message):
        label_search(W, labels, **arguments)


def test_refuses_mismatched_shapes():
    with pytest.raises(InputError, match=r"W has shape \(5, 2\) and labels \(4,\)"):
        label_search(np.zeros((5, 2)), np.zeros(4, dtype=int))


def test_numba_is_imported_only_when_a_search_starts():
    code = "import sys; from mercer import MaxMarginClustering, S2RLSClassifier; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
