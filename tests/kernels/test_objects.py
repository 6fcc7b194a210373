"""Kernels on strings, sets, bags and graphs next to their definitions, and estimators on rows that are objects."""

import collections
import inspect
import itertools
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV

import mercer
from mercer import (
    RBF,
    InputError,
    Jaccard,
    Kernel,
    KernelDensityNovelty,
    KernelOperator,
    KernelPCA,
    LandmarkMap,
    LSSVMClassifier,
    MinMax,
    Mismatch,
    Spectrum,
    WeisfeilerLehman,
    load,
    save,
)
from mercer.homes.objects import Objects, as_objects
from mercer.kernels import as_kernel

RNG = np.random.default_rng(0)
STRINGS = ["".join(RNG.choice(list("ACGT"), RNG.integers(6, 14))) for _ in range(12)]
SETS = [set(RNG.choice(list("abcdefgh"), RNG.integers(0, 6)).tolist()) for _ in range(12)]
BAGS = [{e: float(w) for e, w in zip("abcde", RNG.integers(0, 4, 5) / 2)} for _ in range(12)]


def random_graph():
    n = int(RNG.integers(2, 7))
    pairs = [pair for pair in itertools.combinations(range(n), 2) if RNG.random() < 0.5]
    return RNG.choice(["C", "O"], n).tolist(), pairs


GRAPHS = [random_graph() for _ in range(12)]


def parts_of(text, k):
    return [text[i : i + k] for i in range(len(text) - k + 1)]


def spectrum(x, y, lengths):
    return sum(a == b for k in lengths for a in parts_of(x, k) for b in parts_of(y, k))


def mismatch(x, y, k, m, alphabet):
    def near(text, word):
        return sum(sum(a != b for a, b in zip(part, word)) <= m for part in parts_of(text, k))

    return sum(near(x, word) * near(y, word) for word in itertools.product(alphabet, repeat=k))


def weisfeiler_lehman(x, y, h):
    """Colors as nested tuples, without hashing."""

    def colors(graph):
        labels, edges = graph
        now, found = list(labels), collections.Counter((0, label) for label in labels)
        for step in range(1, h + 1):
            around = [[] for _ in now]
            for i, j in edges:
                around[i].append(now[j])
                around[j].append(now[i])
            now = [(own, tuple(sorted(others, key=repr))) for own, others in zip(now, around)]
            found.update((step, color) for color in now)
        return found

    first, second = colors(x), colors(y)
    return sum(count * second[color] for color, count in first.items())


def jaccard(x, y):
    return len(x & y) / len(x | y) if x | y else 1.0


def minmax(x, y):
    keys = set(x) | set(y)
    most = sum(max(x.get(e, 0), y.get(e, 0)) for e in keys)
    return sum(min(x.get(e, 0), y.get(e, 0)) for e in keys) / most if most else 1.0


def named(value):
    """The id of a parameter, which is the same in every process."""
    return repr(value)[:40] if isinstance(value, Kernel) else getattr(value, "__name__", "").strip("<>")


DEFINED = [
    (Spectrum(3, normalize=False), STRINGS, lambda x, y: spectrum(x, y, [3])),
    (Spectrum(4, shortest=2, normalize=False), STRINGS, lambda x, y: spectrum(x, y, [2, 3, 4])),
    (Mismatch(3, 1, "ACGT", False), STRINGS, lambda x, y: mismatch(x, y, 3, 1, "ACGT")),
    (Mismatch(4, 2, "ACGT", False), STRINGS, lambda x, y: mismatch(x, y, 4, 2, "ACGT")),
    (Mismatch(3, 2, "ACGTN", False), STRINGS, lambda x, y: mismatch(x, y, 3, 2, "ACGTN")),
    (Mismatch(3, 0, "ACGT", False), STRINGS, lambda x, y: spectrum(x, y, [3])),
    (Jaccard(), SETS, jaccard),
    (MinMax(), BAGS, minmax),
    (WeisfeilerLehman(0, False), GRAPHS, lambda x, y: weisfeiler_lehman(x, y, 0)),
    (WeisfeilerLehman(3, False), GRAPHS, lambda x, y: weisfeiler_lehman(x, y, 3)),
]
each = pytest.mark.parametrize("kernel, rows, definition", DEFINED, ids=named)


@each
def test_kernels_are_their_definitions(kernel, rows, definition):
    wanted = np.array([[definition(x, y) for y in rows] for x in rows], dtype=float)
    np.testing.assert_allclose(kernel(rows), wanted, rtol=1e-13)
    np.testing.assert_allclose(kernel(rows[:5], rows[3:]), wanted[:5, 3:], rtol=1e-13)  # other columns
    np.testing.assert_allclose(kernel.diag(rows), np.diag(wanted), rtol=1e-13)
    if hasattr(kernel, "normalize") and "normalize" in kernel.get_params():
        unit = kernel.set_params(normalize=True)(rows)
        kernel.set_params(normalize=False)
        root = np.sqrt(np.diag(wanted))
        np.testing.assert_allclose(unit, wanted / np.outer(root, root), rtol=1e-12)


@pytest.mark.parametrize("k, m", [(3, 1), (4, 2), (3, 0)])
def test_patterns_with_gaps_count_as_words_do(k, m, monkeypatch):
    words = Mismatch(k, m, "ACGT", False)(STRINGS)
    monkeypatch.setattr("mercer.kernels.strings.FEW_WORDS", 0)
    np.testing.assert_array_equal(Mismatch(k, m, "ACGT", False)(STRINGS), words)
    values = np.linalg.eigvalsh(Mismatch(k, m, "ACGT")(STRINGS))
    assert values[0] > -1e-10


@pytest.mark.parametrize("k, letters", [(5, 20), (12, 26)])
def test_long_words_over_large_alphabets_are_the_sum_over_pairs_of_substrings(k, letters):
    """The number of words within one letter of two substrings that differ in d letters. 26¹² is beyond 2⁵⁶."""
    shared = {0: 1 + k * (letters - 1), 1: letters, 2: 2}
    rng = np.random.default_rng(0)
    alphabet = "".join(map(chr, range(97, 97 + letters)))
    rows = ["".join(rng.choice(list(alphabet), 30)) for _ in range(6)]
    rows += [text[:9] + rng.choice(list(alphabet)) + text[10:] for text in rows]  # related strings

    def value(x, y):
        pairs = itertools.product(parts_of(x, k), parts_of(y, k))
        return sum(shared.get(sum(a != b for a, b in zip(*pair)), 0) for pair in pairs)

    wanted = np.array([[value(x, y) for y in rows] for x in rows], dtype=float)
    kernel = Mismatch(k, 1, alphabet, normalize=False)
    np.testing.assert_array_equal(kernel(rows), wanted)
    np.testing.assert_array_equal(kernel(rows[:2], rows[1:]), wanted[:2, 1:])  # read apart
    np.testing.assert_array_equal(kernel.diag(rows), np.diag(wanted))


def test_features_of_training_objects_read_each_of_them_once(monkeypatch):
    read = []
    count = Spectrum.count
    monkeypatch.setattr(Spectrum, "count", lambda self, cells: read.append(len(cells)) or count(self, cells))
    rows = ["".join(RNG.choice(list("ACGT"), 12)) for _ in range(700)]
    Z = LandmarkMap(Spectrum(3), 20).fit_transform(rows)
    assert read == [700]
    np.testing.assert_allclose(Z, LandmarkMap(Spectrum(3), 20).fit(rows).transform(rows), atol=1e-12)


@each
def test_kernels_on_objects_are_positive_semi_definite(kernel, rows, definition):
    values = np.linalg.eigvalsh(kernel(rows))
    assert values[0] > -1e-10 * values[-1]


@each
def test_features_and_operators_have_the_same_products(kernel, rows, definition):
    column, K = as_objects(rows), kernel(rows)
    features = kernel.sparse_features(column)
    if features is not None:
        np.testing.assert_allclose((features @ features.T).toarray(), K, rtol=1e-12)
    V = np.random.default_rng(1).standard_normal((len(rows), 2))
    np.testing.assert_allclose(KernelOperator(kernel, column) @ V, K @ V, rtol=1e-9)
    Z = LandmarkMap(kernel).fit_transform(rows)
    np.testing.assert_allclose(Z @ Z.T, K, atol=1e-7 * K.max())


def test_a_large_vocabulary_goes_through_sparse_products():
    rng = np.random.default_rng(0)
    rows = ["".join(map(chr, rng.integers(97, 123, 60))) for _ in range(200)]
    K = Spectrum(3, normalize=False)(rows)
    wanted = [[spectrum(x, y, [3]) for y in rows[:4]] for x in rows[:4]]
    np.testing.assert_array_equal(K[:4, :4], wanted)
    assert len(np.unique([part for row in rows for part in parts_of(row, 3)])) > 4096


# Rows in any form


@pytest.mark.parametrize("make", [list, tuple, np.array, pd.Series, lambda s: pd.DataFrame({"name": s}), as_objects])
def test_strings_may_come_in_any_column(make):
    np.testing.assert_array_equal(Spectrum(2)(make(STRINGS)), Spectrum(2)(STRINGS))
    y = ["a", "b", *[None] * 10]
    wanted = LSSVMClassifier(kernel=Spectrum(2)).fit(STRINGS, y).decision_function(STRINGS)
    found = LSSVMClassifier(kernel="spectrum").set_params(kernel=Spectrum(2)).fit(make(STRINGS), y)
    np.testing.assert_array_equal(found.decision_function(make(STRINGS)), wanted)


def test_parts_of_objects_keep_what_was_computed():
    column = as_objects(STRINGS)
    kernel = Spectrum(2)
    first = kernel.counts(column)
    assert kernel.counts(column) is first and kernel.counts(column[2:4]).keys is first.keys
    assert isinstance(column[np.array([1, 3])], Objects) and list(column[np.arange(12) == 3]) == [STRINGS[3]]


def letters(x, y):
    """Common pairs of letters, and a little for every row with itself. It is a function of rows, not of columns."""
    return spectrum(x, y, [2]) / np.sqrt(spectrum(x, x, [2]) * spectrum(y, y, [2])) + 0.1 * (x == y)


OBJECT_KERNELS = [(Spectrum(2), STRINGS), (Mismatch(3), STRINGS), (Jaccard(), SETS), (WeisfeilerLehman(2), GRAPHS)]
ESTIMATORS = sorted(
    (cls for name in mercer.__all__ if inspect.isclass(cls := getattr(mercer, name)) and hasattr(cls, "fit")
     and "kernel" in inspect.signature(cls).parameters and not issubclass(cls, mercer.FourierMap)),
    key=lambda cls: cls.__name__,
)  # fmt: skip


def labeled(model, n):
    if is_regressor(model):
        return np.arange(float(n))
    needed = inspect.signature(model.fit).parameters["y"].default is inspect.Parameter.empty
    return ["a", "b", "a", "b", *[None] * (n - 4)] if is_classifier(model) or needed else None


def answers(model, rows):
    for name in ("decision_function", "score_samples", "transform", "predict"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name)(rows), dtype=float)
    raise AssertionError(f"{model!r} has no method for rows")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("kernel, rows", [*OBJECT_KERNELS, (letters, STRINGS)], ids=named)
def test_every_estimator_takes_objects(cls, kernel, rows, tmp_path):
    model = cls(kernel=kernel)
    y = labeled(model, len(rows))
    fitted = clone(model).fit(rows, y)
    matrix = cls(kernel="precomputed")
    as_matrix = as_kernel(kernel).resolve(as_objects(rows))
    K = np.asarray(as_matrix(rows))
    found = answers(fitted, rows)
    assert np.isfinite(found).all() and len(found) == len(rows)
    if cls is not KernelDensityNovelty and hasattr(matrix, "fit"):  # its score needs k(x, x) of new rows
        same = answers(matrix.fit(K, y), K)
        if cls is LandmarkMap:
            found, same = found @ found.T, same @ same.T
        if found.shape == same.shape and cls.__name__ not in ("KernelCMeans", "MaxMarginClustering"):
            sign = np.sign(np.sum(found * same, axis=0))
            np.testing.assert_allclose(found * sign, same, atol=1e-5 * max(1.0, np.abs(same).max()))
    new = [rows[3], rows[1]]
    assert len(answers(fitted, new)) == 2
    if not callable(kernel) or isinstance(kernel, Kernel):
        save(fitted, tmp_path / "model.mercer")
        np.testing.assert_array_equal(answers(load(tmp_path / "model.mercer"), new), answers(fitted, new))


def test_landmarks_answer_like_the_exact_kernel():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcd" if i % 2 else "cdef"), 12)) for i in range(300)]
    y = np.full(300, None, dtype=object)
    y[:40] = ["x" if i % 2 else "y" for i in range(40)]
    exact = LSSVMClassifier(kernel=Spectrum(2), approx="exact").fit(words, y)
    few = LSSVMClassifier(kernel=Spectrum(2), approx=100).fit(words, y)
    assert len(few.map_.landmarks_) <= 100 and isinstance(few.map_.landmarks_, Objects)
    assert np.mean(exact.predict(words) == few.predict(words)) > 0.97
    given = LandmarkMap(Spectrum(2), landmarks=words[:20]).fit(words)
    np.testing.assert_allclose(
        given.transform(words[:20]) @ given.transform(words).T, Spectrum(2)(words[:20], words), atol=1e-8
    )
    with pytest.raises(InputError, match="choice='kmeans' needs means of rows"):
        LandmarkMap(Spectrum(2), 5, choice="kmeans").fit(words)


def test_kernel_pca_on_strings_has_the_spectrum_of_the_matrix():
    K = Spectrum(2)(STRINGS)
    H = np.eye(12) - 1 / 12
    wanted = np.linalg.eigvalsh(H @ K @ H)[::-1][:3]
    np.testing.assert_allclose(KernelPCA(3, kernel=Spectrum(2)).fit(STRINGS).eigenvalues_, wanted, rtol=1e-8)


def test_parameters_of_kernels_on_strings_can_be_searched():
    y = np.array(["a", "b"] * 6)
    search = GridSearchCV(LSSVMClassifier(kernel=Spectrum()), {"kernel__k": [1, 2]}, cv=2).fit(
        np.array(STRINGS, object), y
    )
    assert search.best_params_["kernel__k"] in (1, 2)
    chosen = LSSVMClassifier(kernel="spectrum").select(STRINGS, y, kernel=[Spectrum(1), Spectrum(2), Mismatch(2, 1)])
    assert chosen.kernel in (Spectrum(1), Spectrum(2), Mismatch(2, 1))


def test_sums_of_kernels_on_objects():
    both = 0.3 * Spectrum(2) + Spectrum(3) * Spectrum(1)
    np.testing.assert_allclose(both(STRINGS), 0.3 * Spectrum(2)(STRINGS) + Spectrum(3)(STRINGS) * Spectrum(1)(STRINGS))
    LSSVMClassifier(kernel=both).fit(STRINGS, ["a", "b", *[None] * 10])
    with pytest.raises(InputError, match="a row is one or the other"):
        LSSVMClassifier(kernel=Spectrum(2) + RBF()).fit(STRINGS, ["a", "b", *[None] * 10])


# Alphabets


def test_a_learned_alphabet_is_that_of_the_training_strings():
    kernel = Mismatch(3, 1).resolve(as_objects(["ABCA", "BBCA"]))
    assert kernel.alphabet == "ABC" and kernel.resolve(as_objects(["AAA"])).alphabet == "ABC"
    same = Mismatch(3, 1, "ABC")
    np.testing.assert_array_equal(kernel(["ABCA"], ["BBCA"]), same(["ABCA"], ["BBCA"]))
    # Substrings with an unknown letter do not count.
    raw = Mismatch(3, 1, normalize=False).resolve(as_objects(["ABCA", "BBCA"]))
    np.testing.assert_array_equal(raw(["ABCAX"], ["BBCA"]), raw(["ABCA"], ["BBCA"]))


def test_letters_outside_a_given_alphabet_are_refused():
    with pytest.raises(
        InputError, match=re.escape("the first in row 1, have letters outside the alphabet 'ACGT': 'acg'")
    ):
        Mismatch(3, 1, "ACGT")(["ACGT", "acga"])
    with pytest.raises(InputError, match="has no alphabet yet"):
        Mismatch(3, 1)(STRINGS)
    with pytest.raises(InputError, match="would count .* patterns per letter"):
        Mismatch(12, 3, "ACGT")(STRINGS)


# Refusals


@pytest.mark.parametrize(
    "kernel, rows, message",
    [
        (Spectrum(2), ["ab", np.nan], r"Row 1 is missing \(nan\), and the kernel takes one string per row"),
        (Spectrum(2), ["ab", None], r"Row 1 is missing \(None\)"),
        (Spectrum(2), ["ab", 3], r"Row 1 is of type int \(3\).*str\(\)"),
        (Spectrum(2), ["ab", ""], "1 of 2 strings are empty, the first in row 1"),
        (Spectrum(3), ["ab", "a"], "None of the 2 strings has a substring"),
        (Spectrum(0), ["ab", "a"], "k=0 is not accepted. Use a whole number of at least 1"),
        (Spectrum(2, 3), ["ab", "a"], "shortest=3 is not accepted. Use at most k=2"),
        (Mismatch(2, 2), ["ab", "ac"], "m=2 is not accepted. Use fewer letters than k=2"),
        (Jaccard(), ["ab", "bc"], r"Row 0 is of type str .*set\(text.split\(\)\)"),
        (Jaccard(), [{"a"}, None], "Row 1 is missing"),
        (Jaccard(), [{"a"}, [[1]]], "contains a list, which cannot be an element of a set"),
        (MinMax(), [{"a": 1}, {"a": -1}], "Row 1 has the weight -1.0 for 'a'"),
        (MinMax(), [{"a": 1}, {"a": np.nan}], "Row 1 has the weight nan"),
        (WeisfeilerLehman(), [(["C"], []), "CO"], "Row 1 is of type str, and the kernel takes graphs"),
        (WeisfeilerLehman(), [(["C"], [(0, 1)]), (["C"], [])], "row 0 has 1 nodes and an edge with the node 1"),
        (WeisfeilerLehman(), [(["C", "O"], [(0, 0.5)]), (["C"], [])], "not pairs of node numbers"),
        (WeisfeilerLehman(-1), GRAPHS[:4], "h=-1 is not accepted"),
        (Spectrum(2), np.ones((4, 3)), r"X has the shape \(4, 3\), and kernel=Spectrum\(k=2\) takes objects"),
        (
            RBF(1.0),
            ["banana", "apple"],
            r"first row is of type str: 'banana'\), and kernel=RBF.* takes rows of numbers",
        ),
        ("rbf", [{"a"}, {"b"}], "takes rows of numbers. Give a matrix of numbers, or a kernel for objects"),
    ],
)
def test_bad_objects_get_a_sentence(kernel, rows, message):
    with pytest.raises(InputError, match=message):
        LSSVMClassifier(kernel=kernel).fit(rows, ["a", "b", None, None][: len(rows)])


def test_short_strings_are_told_and_similar_to_no_row():
    with pytest.warns(UserWarning, match="1 of 3 strings, such as 'a', have no substring"):
        model = LSSVMClassifier(kernel=Spectrum(2)).fit(["abc", "a", "bcd"], ["x", None, "y"])
    assert model.unsupported_.tolist() == [False, True, False]
    np.testing.assert_array_equal(Spectrum(2)(["abc", "a"]), [[1, 0], [0, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LSSVMClassifier(kernel=Spectrum(2, shortest=1)).fit(["abc", "a", "bcd"], ["x", None, "y"])


def test_equal_elements_are_equal_in_every_form():
    kernel = Jaccard()
    assert kernel([{1, "a"}], [[1.0, "a", "a"]])[0, 0] == 1 and kernel([{1}], [{"1"}])[0, 0] == 0
    assert kernel([[(1, "a")]], [[(1, "a")]])[0, 0] == 1 and kernel([set()], [set()])[0, 0] == 1
    assert MinMax()([["a", "a", "b"]], [collections.Counter("aab")])[0, 0] == 1
    assert WeisfeilerLehman()([(3, [(0, 1)])], [{"labels": [None] * 3, "edges": [(1, 0), (0, 1)]}])[
        0, 0
    ] == pytest.approx(1)


def test_keys_do_not_depend_on_the_process():
    from mercer.kernels.counts import keys_of

    assert keys_of(["a", 1, None, (1, "b")], "x").tolist() == [
        1410542633125930404,
        18235861091803621825,
        8493733112532773764,
        13029529623172846993,
    ]
