"""Kernels on strings: common substrings of a fixed length, exact (`Spectrum`) or up to a few letters (`Mismatch`)."""

import itertools
import math
import warnings
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..errors import InputError
from ..homes.objects import Objects
from ..types import Block, Rows
from .base import rows_for
from .counts import CountKernel, Counts, mixed, whole

FEW_WORDS = 2048  # strings of k letters up to which `Mismatch` has one column for each: fewer than patterns with gaps
PATTERN = np.uint64(56)  # bits below the number of a pattern in a key
MOST_GAPPED = 200  # position subsets per substring in `Mismatch`: time and memory grow with them


class StringKernel(CountKernel):
    """Reading of strings, and a warning if training strings are too short to have any part."""

    def shortest_part(self) -> int:
        """The length of the shortest substring that is counted."""
        raise NotImplementedError(f"{type(self).__name__} must define shortest_part().")

    def resolve(self, X: Rows, weight: NDArray[np.float64] | None = None) -> Self:
        column = rows_for(self, X)
        told = column.is_known(self.coding())  # this kernel is resolved already
        resolved = super().resolve(column, weight)
        short = np.flatnonzero(resolved.counts(column).squares == 0)
        if not len(short):
            return resolved
        least = resolved.shortest_part()
        if len(short) == len(column):
            raise InputError(
                f"None of the {len(column)} strings has a substring that {self!r} counts: "
                f"{_reason(column, short, least)}. Choose a smaller k."
            )
        if told:
            return resolved
        warnings.warn(
            f"{len(short)} of {len(column)} strings, such as {column.cells[short[0]]!r}, have no substring that "
            f"{self!r} counts ({_reason(column, short, least)}), so they are similar to no row. Choose a smaller k, or "
            "Spectrum(k, shortest=1).",
            UserWarning,
            stacklevel=2,
        )
        return resolved


class Spectrum(StringKernel):
    """Number of common substrings of length k: k(x, y) = Σ_a #a(x) · #a(y), over all strings a of k letters.

    For text, names, DNA and proteins. Every Unicode character is a letter. Letter case counts.

    Parameters
    ----------
    k : int, default=3
        Length of the substrings. 2 to 4 for names and words, 3 to 8 for sequences.
    shortest : int or None, default=None
        If given, substrings of all lengths from `shortest` to k are counted (the blended spectrum), each length as
        often as it occurs. Strings shorter than k then have parts, too.
    normalize : bool, default=True
        Divide by √(k(x, x) k(y, y)), so that long strings are not more similar to everything.

    Notes
    -----
    Cost: O(total length) to read the strings. A block of k is one sparse product. Strings without a substring of the
    wanted length are similar to no row, with a warning in fit. Empty strings are refused.
    Reference: Leslie, Eskin, Noble (2002), The spectrum kernel.

    Examples
    --------
    >>> Spectrum(2, normalize=False)(["banana", "bandana"])
    array([[9., 7.],
           [7., 8.]])
    """

    names = ("spectrum",)

    def __init__(self, k: int = 3, shortest: int | None = None, normalize: bool = True):
        self.k = k
        self.shortest = shortest
        self.normalize = normalize

    def check(self) -> None:
        whole(self, "k", 1)
        if self.shortest is not None:
            whole(self, "shortest", 1)
            if self.shortest > self.k:
                raise InputError(f"Invalid shortest={self.shortest}; expected a length of at most k={self.k}, or None.")

    def shortest_part(self) -> int:
        return self.k if self.shortest is None else self.shortest

    def count(self, cells: np.ndarray) -> Counts:
        letters, lengths = read_strings(cells)
        found = [windows(letters, lengths, k) for k in range(self.shortest_part(), self.k + 1)]
        rows = np.concatenate([row for row, _ in found])
        keys = np.concatenate([spelled(letters[places]) for _, places in found])
        return Counts.of(rows, keys, None, len(cells))


class Mismatch(StringKernel):
    """Common substrings of length k up to m other letters: φ_a(x) = number of substrings of x within m letters of a.

    k(x, y) = Σ_a φ_a(x) φ_a(y) over all strings a of k letters of the alphabet. For DNA and proteins, whose related
    sequences differ in single letters. `m=0` is `Spectrum`.

    Parameters
    ----------
    k : int, default=5
        Length of the substrings.
    m : int, default=1
        Letters that may differ; below k.
    alphabet : str or None, default=None
        The letters. None takes those of the training strings. Strings with other letters are refused if an alphabet is
        given. If it was learned, substrings with a letter that no training string has are not counted.
    normalize : bool, default=True
        Divide by √(k(x, x) k(y, y)).

    Notes
    -----
    Two substrings at Hamming distance d contribute a number that depends on d and the size of the alphabet only, so no
    neighborhood of strings is listed: pairs at each distance are counted through substrings with up to 2m gaps. The
    sums are whole numbers, exact below 2⁵³. Cost: Σ_{i ≤ 2m} C(k, i) entries per letter, whatever the alphabet.
    Reference: Leslie, Eskin, Cohen, Weston, Noble (2004), Mismatch string kernels for discriminative protein
    classification. The counting is that of Ghandi, Lee, Mohammad-Noori, Beer (2014), Enhanced regulatory sequence
    prediction using gapped k-mer features.

    Examples
    --------
    >>> kernel = Mismatch(2, 1, alphabet="AC", normalize=False)
    >>> kernel(["AA"], ["AC", "CC"])  # within one letter of AA: AA, AC, CA
    array([[2., 2.]])
    """

    names = ("mismatch",)

    def __init__(self, k: int = 5, m: int = 1, alphabet: str | None = None, normalize: bool = True):
        self.k = k
        self.m = m
        self.alphabet = alphabet
        self.normalize = normalize

    learned_ = False  # set by resolve: whether the alphabet is that of the training strings

    def settled(self, X: Objects) -> Self:
        alphabet, learned = self.alphabet, self.learned_
        if alphabet is None:
            alphabet, learned = "".join(map(chr, np.unique(read_strings(X.cells)[0]))), True
        resolved = type(self)(self.k, self.m, alphabet, self.normalize)
        resolved.learned_ = learned
        return resolved

    def coding(self) -> tuple:
        return *super().coding(), self.learned_

    def shortest_part(self) -> int:
        return self.k

    def check(self) -> None:
        whole(self, "k", 1)
        whole(self, "m", 0)
        if self.m >= self.k:
            raise InputError(f"Invalid m={self.m}; expected fewer letters than k={self.k}.")
        if self.alphabet is None:
            raise InputError(
                f"{self!r} has no alphabet yet. Give alphabet='ACGT', call kernel.resolve(strings) first, or give the "
                "kernel to an estimator."
            )
        if not isinstance(self.alphabet, str) or not self.alphabet:
            raise InputError(f"Invalid alphabet={self.alphabet!r}; expected a text of all letters, or None.")
        number = sum(math.comb(self.k, gaps) for gaps in range(min(2 * self.m, self.k) + 1))
        if number > MOST_GAPPED:
            raise InputError(
                f"{self!r} would count {number} patterns per letter. Accepted: up to {MOST_GAPPED}. Choose a smaller k "
                "or m."
            )

    def count(self, cells: np.ndarray) -> Counts:
        self.check()
        letters, lengths = read_strings(cells)
        known = np.isin(letters, np.unique(np.array([ord(letter) for letter in self.alphabet or ""], dtype=np.uint32)))
        if not known.all() and not self.learned_:
            owner = np.repeat(np.arange(len(cells)), lengths)[~known]
            raise InputError(
                f"{len(np.unique(owner))} strings, the first in row {owner[0]}, have letters outside the alphabet "
                f"{_some(self.alphabet or '')}: {_some(''.join(map(chr, np.unique(letters[~known]))))}. Accepted: "
                "letters of the alphabet. Give a larger alphabet, change the letter case, or use alphabet=None."
            )
        rows, places = windows(letters, lengths, self.k)
        if not known.all():
            whole_windows = known[places].all(axis=1)
            rows, places = rows[whole_windows], places[whole_windows]
        if len(set(self.alphabet or "")) ** self.k <= FEW_WORDS:
            return self._by_words(rows, letters[places], len(cells))
        factors = pattern_weights(self.k, self.m, len(set(self.alphabet or "")))
        patterns = [
            (kept, factor)
            for held, factor in sorted(factors.items())
            if factor != 0
            for kept in itertools.combinations(range(self.k), held)
        ]
        spelling = _Spelling(self.alphabet or "", self.k)
        codes = spelling.codes(letters)[places]
        columns = np.empty((len(rows), len(patterns)), dtype=np.int64)
        keys, weights, total = [], [], 0
        for number, (kept, factor) in enumerate(patterns):
            found, columns[:, number] = spelling.distinct(codes[:, kept])
            columns[:, number] += total
            total += len(found)
            keys.append(found + (np.uint64(number) << PATTERN))  # patterns with other gaps are other parts
            weights.append(np.full(len(found), float(factor)))
        ends = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(cells)))]) * len(patterns)
        small = np.int32 if max(columns.size, total) < np.iinfo(np.int32).max else np.int64
        entries = np.ones(columns.size), columns.ravel().astype(small), ends.astype(small)
        matrix = sp.csr_array(entries, shape=(len(cells), max(total, 1)))
        return Counts.of_matrix(np.concatenate(keys), matrix, np.concatenate(weights))

    def _by_words(self, rows: NDArray[np.int64], codes: NDArray[np.uint32], n: int) -> Counts:
        """φ itself, if all strings of k letters are few."""
        alphabet = np.unique(np.array([ord(letter) for letter in self.alphabet or ""], dtype=np.uint32))
        words = np.array(list(itertools.product(alphabet, repeat=self.k)), dtype=np.uint32).reshape(-1, self.k)
        words = words[np.argsort(keys := spelled(words))]
        distance = sum((column[:, None] != column).astype(np.uint8) for column in words.T)
        keys, ones = np.sort(keys), np.ones(len(rows))
        exact = sp.csr_array((ones, (rows, np.searchsorted(keys, spelled(codes)))), shape=(n, len(keys)))
        matrix = sp.csr_array(exact @ (distance <= self.m).astype(np.float64))
        return Counts(keys, matrix, None, np.asarray(matrix.multiply(matrix).sum(axis=1), dtype=np.float64).ravel())


class _Spelling:
    """Numbers of substrings over an alphabet, below 2⁵⁶: to the base of its size, or mixed if these are too large."""

    def __init__(self, alphabet: str, k: int) -> None:
        self.letters = np.unique(np.array([ord(letter) for letter in alphabet], dtype=np.uint32))
        self.exact = len(self.letters) ** k < 1 << int(PATTERN)

    def codes(self, letters: NDArray[np.uint32]) -> NDArray[np.int64]:
        """The place of each letter in the alphabet; any for other letters."""
        return np.searchsorted(self.letters, letters)

    def distinct(self, codes: NDArray[np.int64]) -> tuple[Block, Block]:
        """(ascending numbers of the substrings that occur, which of them each row of codes is)."""
        base, most = len(self.letters), len(self.letters) ** codes.shape[1]
        if not self.exact:
            found, which = np.unique(spelled(codes.astype(np.uint32)) >> (np.uint64(64) - PATTERN), return_inverse=True)
            return found, which.ravel()
        numbers = np.zeros(len(codes), dtype=np.int64)
        for letter in codes.T:
            numbers = numbers * base + letter
        if most > 4 * max(len(codes), 1 << 20):
            found, which = np.unique(numbers, return_inverse=True)
            return found.astype(np.uint64), which.ravel()
        occurs = np.zeros(most, dtype=bool)
        occurs[numbers] = True
        return np.flatnonzero(occurs).astype(np.uint64), (np.cumsum(occurs) - 1)[numbers]


def pattern_weights(k: int, m: int, letters: int) -> dict[int, int]:
    """Factor of the substrings with t letters and k − t gaps, by t, such that the sum is the mismatch kernel.

    Two substrings that agree in g of k places have `shared(k − g)` strings within m letters of both, and C(g, t) common
    patterns of t letters: the factors solve Σ_t factor_t C(g, t) = shared(k − g) for every g.
    """
    shared = {k - d: _shared(k, m, d, letters) for d in range(k + 1)}
    return {
        t: sum((-1) ** (t - g) * math.comb(t, g) * shared[g] for g in range(t + 1))
        for t in range(max(k - 2 * m, 0), k + 1)
    }


def _shared(k: int, m: int, d: int, letters: int) -> int:
    """How many strings of k letters are within m letters of both of two strings that differ in d places."""
    total = 0
    for first, second in itertools.product(range(d + 1), repeat=2):
        neither = d - first - second
        if neither < 0:
            continue
        ways = math.comb(d, first) * math.comb(d - first, second) * (letters - 2) ** neither
        for other in range(k - d + 1):
            if max(d - first, d - second) + other <= m:
                total += ways * math.comb(k - d, other) * (letters - 1) ** other
    return total


def read_strings(cells: np.ndarray) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """(all letters one after the other, length of each string). Anything but strings with letters is refused."""
    strings = cells.tolist()
    for i, text in enumerate(strings):
        if not isinstance(text, str):
            missing = text is None or text != text
            what = "is missing" if missing else f"is of type {type(text).__name__}"
            raise InputError(
                f"Row {i} {what} ({text!r}), and the kernel takes strings. Accepted: one text per row. "
                + ("Drop the row (NaN, None)." if missing else "Convert it with str().")
            )
    lengths = np.fromiter(map(len, strings), dtype=np.int64, count=len(strings))
    empty = np.flatnonzero(lengths == 0)
    if len(empty):
        raise InputError(
            f"{len(empty)} of {len(strings)} strings are empty, the first in row {empty[0]}, and an empty string is "
            "similar to no row. Accepted: strings of at least one letter. Drop these rows."
        )
    return np.frombuffer("".join(strings).encode("utf-32-le", "surrogatepass"), dtype=np.uint32), lengths


def windows(letters: NDArray[np.uint32], lengths: NDArray[np.int64], k: int) -> tuple[Block, Block]:
    """(row, (m, k) places of the letters) of every substring of k letters."""
    number = np.maximum(lengths - k + 1, 0)
    rows = np.repeat(np.arange(len(lengths)), number)
    begins = np.cumsum(lengths) - lengths
    first = np.arange(len(rows)) - np.repeat(np.cumsum(number) - number, number) + begins[rows]
    return rows, first[:, None] + np.arange(k)


def spelled(codes: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """A key for each row of letters. Substrings of another length have other keys."""
    keys = np.full(len(codes), np.uint64(codes.shape[1]), dtype=np.uint64)
    for letter in codes.T:
        keys = mixed(keys) + letter
    return mixed(keys)


def _reason(column: Any, rows: NDArray[np.int64], least: int) -> str:
    short = all(len(column.cells[i]) < least for i in rows)
    return (
        f"they are shorter than {least} letters" if short else "they are too short or have letters outside the alphabet"
    )


def _some(letters: str) -> str:
    return repr(letters if len(letters) <= 30 else letters[:27] + "...")
