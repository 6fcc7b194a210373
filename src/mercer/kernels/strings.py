"""Kernels on strings, which count exact (`Spectrum`) or similar (`Mismatch`) common substrings of a fixed length."""

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

FEW_WORDS = 2048  # with at most so many strings of k letters, `Mismatch` has one column per string
PATTERN = np.uint64(56)  # number of bits in a key below the number of its pattern


class StringKernel(CountKernel):
    """Base of the kernels on strings. `resolve` warns if training strings are too short to have any part."""

    def shortest_part(self) -> int:
        """The length of the shortest substring that is counted."""
        raise NotImplementedError(f"{type(self).__name__} must define shortest_part().")

    def resolve(self, X: Rows, weight: NDArray[np.float64] | None = None) -> Self:
        column = rows_for(self, X)
        warned = column.is_known(self.coding())  # by an earlier call for the same strings
        resolved = super().resolve(column, weight)
        short = np.flatnonzero(resolved.counts(column).squares == 0)
        if not len(short):
            return resolved
        least = resolved.shortest_part()
        if len(short) == len(column):
            raise InputError(
                f"None of the {len(column)} strings has a substring that {self!r} counts, because "
                f"{_reason(column, short, least)}. Choose a smaller k."
            )
        if warned:
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
    """Number of common substrings of length k, k(x, y) = Σ_a #a(x) · #a(y) over all strings a of k letters.

    For text, names, DNA and proteins. Every Unicode character is a letter. Letter case counts.

    Parameters
    ----------
    k : int, default=3
        Length of the substrings. 2 to 4 for names and words, 3 to 8 for sequences.
    shortest : int or None, default=None
        If given, substrings of all lengths from `shortest` to k are counted (the blended spectrum). Strings shorter
        than k then have parts, too.
    normalize : bool, default=True
        Divide by √(k(x, x) k(y, y)), so that long strings are not more similar to everything.

    Notes
    -----
    To read the strings takes O(total length) operations. A block of k is one sparse product. Strings without a
    substring of the given length are similar to no row, with a warning in `fit`. Empty strings are refused.

    References
    ----------
    Leslie, Eskin, Noble (2002), The spectrum kernel.

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
                raise InputError(f"shortest={self.shortest} is not accepted. Use at most k={self.k}, or None.")

    def shortest_part(self) -> int:
        return self.k if self.shortest is None else self.shortest

    def count(self, cells: np.ndarray) -> Counts:
        letters, lengths = read_strings(cells)
        found = [windows(letters, lengths, k) for k in range(self.shortest_part(), self.k + 1)]
        rows = np.concatenate([row for row, _ in found])
        keys = np.concatenate([spelled(letters[places]) for _, places in found])
        return Counts.of(rows, keys, None, len(cells))


class Mismatch(StringKernel):
    """Number of common substrings of length k, if up to m letters may differ.

    k(x, y) = Σ_a φ_a(x) φ_a(y) over all strings a of k letters of the alphabet, where φ_a(x) is the number of
    substrings of x that differ from a in at most m letters. For DNA and proteins, whose related sequences differ in
    single letters. `m=0` is `Spectrum`.

    Parameters
    ----------
    k : int, default=5
        Length of the substrings.
    m : int, default=1
        Number of letters that may differ, less than k.
    alphabet : str or None, default=None
        The letters. None uses those of the training strings. If an alphabet is given, strings with other letters are
        refused. If it is learned, substrings with a letter that is in no training string are not counted.
    normalize : bool, default=True
        Divide by √(k(x, x) k(y, y)).

    Notes
    -----
    Two substrings at Hamming distance d contribute a number that depends only on d and the size of the alphabet. No
    neighborhood of strings is therefore listed. The pairs at each distance are counted through substrings with up to 2m
    gaps, as in Ghandi et al. (2014). The sums are whole numbers, which are exact below 2⁵³. The counts have
    Σ_{i ≤ 2m} C(k, i) entries per letter, for an alphabet of any size.

    References
    ----------
    Leslie, Eskin, Cohen, Weston, Noble (2004), Mismatch string kernels for discriminative protein classification.
    Ghandi, Lee, Mohammad-Noori, Beer (2014), Enhanced regulatory sequence prediction using gapped k-mer features.

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

    learned_ = False  # whether `resolve` took the alphabet from the training strings

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
            raise InputError(f"m={self.m} is not accepted. Use fewer letters than k={self.k}.")
        if self.alphabet is None:
            raise InputError(
                f"{self!r} has no alphabet yet. Give alphabet='ACGT', call kernel.resolve(strings) first, or give the "
                "kernel to an estimator."
            )
        if not isinstance(self.alphabet, str) or not self.alphabet:
            raise InputError(f"alphabet={self.alphabet!r} is not accepted. Use a str of all letters, or None.")
        number, most = sum(math.comb(self.k, gaps) for gaps in range(min(2 * self.m, self.k) + 1)), 200
        if number > most:
            raise InputError(
                f"{self!r} would count {number} patterns per letter, and the limit is {most}. Choose a smaller k or m."
            )

    def count(self, cells: np.ndarray) -> Counts:
        self.check()
        letters, lengths = read_strings(cells)
        known = np.isin(letters, np.unique(np.array([ord(letter) for letter in self.alphabet or ""], dtype=np.uint32)))
        if not known.all() and not self.learned_:
            owner = np.repeat(np.arange(len(cells)), lengths)[~known]
            raise InputError(
                f"{len(np.unique(owner))} strings, the first in row {owner[0]}, have letters outside the alphabet "
                f"{_some(self.alphabet or '')}: {_some(''.join(map(chr, np.unique(letters[~known]))))}. "
                "Give a larger alphabet, change the letter case, or use alphabet=None."
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
            keys.append(found + (np.uint64(number) << PATTERN))  # patterns with different gaps are different parts
            weights.append(np.full(len(found), float(factor)))
        ends = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(cells)))]) * len(patterns)
        small = np.int32 if max(columns.size, total) < np.iinfo(np.int32).max else np.int64
        entries = np.ones(columns.size), columns.ravel().astype(small), ends.astype(small)
        matrix = sp.csr_array(entries, shape=(len(cells), max(total, 1)))
        return Counts.of_matrix(np.concatenate(keys), matrix, np.concatenate(weights))

    def _by_words(self, rows: NDArray[np.int64], codes: NDArray[np.uint32], n: int) -> Counts:
        """φ itself, if there are few strings of k letters."""
        alphabet = np.unique(np.array([ord(letter) for letter in self.alphabet or ""], dtype=np.uint32))
        words = np.array(list(itertools.product(alphabet, repeat=self.k)), dtype=np.uint32).reshape(-1, self.k)
        words = words[np.argsort(keys := spelled(words))]
        distance = sum((column[:, None] != column).astype(np.uint8) for column in words.T)
        keys, ones = np.sort(keys), np.ones(len(rows))
        exact = sp.csr_array((ones, (rows, np.searchsorted(keys, spelled(codes)))), shape=(n, len(keys)))
        matrix = sp.csr_array(exact @ (distance <= self.m).astype(np.float64))
        return Counts(keys, matrix, None, np.asarray(matrix.multiply(matrix).sum(axis=1), dtype=np.float64).ravel())


class _Spelling:
    """Numbers below 2⁵⁶ for substrings over an alphabet.

    The letters are digits to the base of the size of the alphabet. If this gives larger numbers, mixed keys replace
    them.
    """

    def __init__(self, alphabet: str, k: int) -> None:
        self.letters = np.unique(np.array([ord(letter) for letter in alphabet], dtype=np.uint32))
        self.exact = len(self.letters) ** k < 1 << int(PATTERN)

    def codes(self, letters: NDArray[np.uint32]) -> NDArray[np.int64]:
        """The position of each letter in the alphabet, and any position for other letters."""
        return np.searchsorted(self.letters, letters)

    def distinct(self, codes: NDArray[np.int64]) -> tuple[Block, Block]:
        """(ascending numbers of the substrings that occur, position of each row of codes among them)."""
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
    """Factors of the substrings with t letters and k − t gaps, by t, with which their sum is the mismatch kernel.

    For two substrings that agree in g of k places, `common[g]` strings are within m letters of both. They have C(g, t)
    common patterns of t letters, so the factors solve Σ_t factor_t C(g, t) = common[g] for every g.
    """
    common = {k - d: _common(k, m, d, letters) for d in range(k + 1)}
    return {
        t: sum((-1) ** (t - g) * math.comb(t, g) * common[g] for g in range(t + 1))
        for t in range(max(k - 2 * m, 0), k + 1)
    }


def _common(k: int, m: int, d: int, letters: int) -> int:
    """Number of strings of k letters within m letters of both of two strings that differ in d places."""
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
    """(all letters one after the other, length of each string). Empty strings and other objects are refused."""
    strings = cells.tolist()
    for i, text in enumerate(strings):
        if not isinstance(text, str):
            missing = text is None or text != text
            what = "is missing" if missing else f"is of type {type(text).__name__}"
            raise InputError(
                f"Row {i} {what} ({text!r}), and the kernel takes one string per row. "
                + ("Drop the row (NaN, None)." if missing else "Convert it with str().")
            )
    lengths = np.fromiter(map(len, strings), dtype=np.int64, count=len(strings))
    empty = np.flatnonzero(lengths == 0)
    if len(empty):
        raise InputError(
            f"{len(empty)} of {len(strings)} strings are empty, the first in row {empty[0]}, and an empty string is "
            "similar to no row. Drop these rows."
        )
    return np.frombuffer("".join(strings).encode("utf-32-le", "surrogatepass"), dtype=np.uint32), lengths


def windows(letters: NDArray[np.uint32], lengths: NDArray[np.int64], k: int) -> tuple[Block, Block]:
    """The rows of all substrings of k letters, and an array with the k positions of their letters."""
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
