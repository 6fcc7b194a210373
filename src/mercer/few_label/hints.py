"""Hints are guesses of the class by other sources, such as a language model, rules, another person or an old system.

A hint is never a label. With h_j the guess of source j about a row x,

    P(y | x, h) ∝ π(y)^(1 − u) P(y | x)^u Π_j P(h_j | y)^(t_j)

Here P(y | x) is the pool of candidates, which never sees a hint, and π are the class frequencies among the labels.
Row y of the confusion matrix P(h | y) has a Dirichlet prior of mass c around a · [h = y] + (1 − a) · q(h), with q the
frequency of the guess among all rows. One accuracy a is for all classes, and c determines how far the classes may
differ. a and c are averaged under their posterior given the human labels. The exponents u and t have a Gaussian prior.
Its center is l / (l + 5) for the pool. The same l labels selected its candidates, so its held-out probabilities are
too good while labels are few, and those of the sources are not. For the sources the center is 1, and less if they agree
with each other more often than their confusion matrices explain. Two copies of one source then count as one. The
exponents maximize the likelihood of held-out labels, so that a source that repeats what the pool knows, or a pool that
knows nothing, counts for less.

Label i is in none of the matrices by which it is judged. A guess that is missing, or that no training row had, leaves
a row as it is.

A source may name a class that no label has yet. The pool cannot recognize such a class, so x is not informative
about it, and P(y | x) = π(y) = m q(y) / (l + m). Here l is the number of labels, q is the frequency of the guess among
all rows, and m = 20. Without this, a table with few labels would be predicted less accurately than by a copy of the
hints.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import gammaln, log_softmax, softmax
from scipy.stats import beta

from ..inputs.labels import Labels


class Grid(NamedTuple):
    """Values of the accuracy a and of the mass c of a source over which its confusion matrix is averaged.

    Attributes
    ----------
    a, c : (g,) the values. log_prior : (g,) logarithms of their prior weights.
    """

    a: np.ndarray
    c: np.ndarray
    log_prior: np.ndarray

    @classmethod
    def of(cls, accuracies: Sequence[float], masses: Sequence[float], prior: tuple[float, float]) -> "Grid":
        """All pairs of these values, with a Beta prior of the accuracy."""
        values = np.array(accuracies)
        a, c = (grid.ravel() for grid in np.meshgrid(values, np.array(masses), indexing="ij"))
        return cls(a, c, np.log(beta.pdf((a + 0.01) / 1.01, *prior) * np.gradient(values)[np.searchsorted(values, a)]))


GRID = Grid.of(
    [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.94, 0.97, 0.99],
    [1.0, 4.0, 16.0, 64.0],
    (6.0, 2.0),  # a source of hints is correct more often than not
)


@dataclass(frozen=True, eq=False)
class Guesses:
    """The guesses of some sources about the training rows, as numbers.

    Attributes
    ----------
    codes : (n, s) number of the word of each source for each row, -1 if there is none.
    classes : s arrays (w,), the class number that each word of a source names, -1 if it names none.
    """

    codes: np.ndarray
    classes: tuple[np.ndarray, ...]

    @cached_property
    def shares(self) -> list[np.ndarray]:
        """s arrays (w,) of the frequency of each word among all rows, with half a row added to each."""
        counts = [np.bincount(code[code >= 0], minlength=len(own)) for code, own in zip(self.codes.T, self.classes)]
        return [(count + 0.5) / (count.sum() + 0.5 * len(count)) for count in counts]

    def prior(self, counts: np.ndarray, mass: float = 20.0) -> np.ndarray:
        """(..., k) class frequencies from label mass (..., k). Unlabeled ones as often as sources name them.

        mass : number of labels that the guesses of a class without a label count for.
        """
        k = counts.shape[-1]
        named = [np.bincount(own[own >= 0], q[own >= 0], minlength=k) for own, q in zip(self.classes, self.shares)]
        novel, l = counts.sum(axis=tuple(range(counts.ndim - 1))) == 0, counts.sum(axis=-1, keepdims=True)
        unknown = np.where(novel, mass * np.mean(named, axis=0) / (l + mass), 0.0)
        known = np.where(novel, 0.0, counts + 1)
        rest = 1 - unknown.sum(axis=-1, keepdims=True)
        found: np.ndarray = unknown + rest * known / known.sum(axis=-1, keepdims=True)
        return found

    def fit(self, labels: Labels, left_out: np.ndarray) -> tuple["Likelihood", np.ndarray]:
        """The likelihood of the sources, and the pool's held-out probabilities with it.

        Parameters
        ----------
        labels : those to learn from. left_out : (l', k) held-out probabilities of the testable ones, without hints.

        Returns (Likelihood, (l', k) the probabilities with the hints, each without its own label).
        """
        codes, tested, mass = self.codes[labels.labeled], labels.testable, labels.counted[:, None] * labels.given
        found = [Confusion.of(mass, c, own, q) for c, own, q in zip(codes.T, self.classes, self.shares)]
        words = tuple(one.matrix for one in found)
        counts = mass.sum(axis=0)
        everywhere, novel, l = self.prior(counts), counts == 0, counts.sum()
        # The selection of the pool costs 5 labels, so its exponent has the prior center l / (l + 5).
        center = np.concatenate([[l / (l + 5.0)], 1.0 / (1.0 + self._shared(words, everywhere).sum(axis=1))])
        known = np.stack([one.without(mass, c) for one, c in zip(found, codes.T)])[:, tested]
        prior = np.log(self.prior(counts - mass[tested]))
        seen = (1.0 + float(np.mean(tested))) / 2
        base = np.log(_modest(left_out, np.exp(prior), seen, novel)) - prior
        features = np.concatenate([base[None], known])
        spoken = (codes[tested] >= 0).any(axis=1)
        exponents = _exponents(features, prior, mass[tested] * spoken[:, None], center)
        out = softmax(prior + np.einsum("f,flk->lk", exponents, features), axis=1)
        likelihood = Likelihood(words, exponents, everywhere, seen, novel)
        return likelihood, np.where(spoken[:, None], out, left_out)

    def _shared(self, matrices: Sequence[np.ndarray], prior: np.ndarray) -> np.ndarray:
        """(s, s) how much two sources have in common beyond the class. Independent ones have 0, copies have 1."""
        s, out = len(matrices), np.zeros((len(matrices), len(matrices)))
        for i in range(s):
            for j in range(i):
                both = (self.codes[:, i] >= 0) & (self.codes[:, j] >= 0)
                if both.sum() < 2:
                    continue
                joint = np.zeros((matrices[i].shape[1], matrices[j].shape[1]))
                np.add.at(joint, (self.codes[both, i], self.codes[both, j]), 1.0 / both.sum())
                alone = np.einsum("k,ka,kb->ab", prior, matrices[i], matrices[j])
                out[i, j] = out[j, i] = _excess(joint, alone)
        return out


@dataclass(frozen=True, eq=False)
class Confusion:
    """The confusion matrix of one source, estimated from the labels.

    Attributes
    ----------
    counts : (k, w) label mass of each class with each word of the source. expected : (g, k, w) prior means on
        the grid of accuracies and masses. evidence : (g,) logarithms of their posterior weights.
    """

    counts: np.ndarray
    expected: np.ndarray
    evidence: np.ndarray

    @classmethod
    def of(cls, mass: np.ndarray, codes: np.ndarray, classes: np.ndarray, shares: np.ndarray) -> "Confusion":
        """From label masses (l, k) and the words (l,) of the source for these rows."""
        k, w = mass.shape[1], len(classes)
        spoken = codes >= 0
        counts = np.zeros((w, k))
        np.add.at(counts, codes[spoken], mass[spoken])
        own = (classes == np.arange(k)[:, None]).astype(float)
        named = own.sum(axis=1, keepdims=True)
        own = np.where(named > 0, own / np.maximum(named, 1.0), shares)
        expected = GRID.a[:, None, None] * own + (1 - GRID.a)[:, None, None] * shares
        counts, c = counts.T, GRID.c[:, None]
        prior = c[:, None] * expected
        evidence = GRID.log_prior + (gammaln(prior + counts) - gammaln(prior)).sum(axis=(1, 2))
        evidence += (gammaln(c) - gammaln(c + counts.sum(axis=1))).sum(axis=1)
        return cls(counts, expected, evidence)

    @property
    def matrix(self) -> np.ndarray:
        """(k, w) P(word | class)."""
        c = GRID.c[:, None, None]
        rows = (self.counts + c * self.expected) / (self.counts.sum(axis=1, keepdims=True) + c)
        found: np.ndarray = np.einsum("g,gkw->kw", softmax(self.evidence), rows)
        return found

    def without(self, mass: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """(l, k) log P(word | class) of each label's word, learned without the label. It is 0 if there is no word."""
        out, spoken = np.zeros(mass.shape), np.flatnonzero(codes >= 0)
        if not len(spoken):
            return out
        pairs, place = np.unique(np.column_stack([codes[spoken], mass[spoken]]), axis=0, return_inverse=True)
        word, own, c = pairs[:, 0].astype(int), pairs[:, 1:], GRID.c[:, None, None]
        total = self.counts.sum(axis=1)
        cell, prior = self.counts.T[word], GRID.c[:, None, None] * np.moveaxis(self.expected[:, :, word], 2, 1)
        change = gammaln(prior + np.maximum(cell - own, 0)) - gammaln(prior + cell)
        change += gammaln(c + total) - gammaln(c + np.maximum(total - own, 0))
        weights = softmax(self.evidence[:, None] + change.sum(axis=2), axis=0)
        rows = (np.maximum(cell - own, 0) + prior) / (np.maximum(total - own, 0) + c)
        out[spoken] = np.log(np.einsum("gp,gpk->pk", weights, rows))[place.ravel()]
        return out


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Likelihood of the class given the guesses of all sources.

    Attributes
    ----------
    matrices : s arrays (k, w) of P(word | class). exponents : (1 + s,) of the pool and of each source.
    prior : (k,) class frequencies.
    seen : how far the pool is believed, between 1 and the fraction of labels whose class has another label.
    novel : (k,) bool, classes that no label has, or None if there are no such classes.
    """

    matrices: tuple[np.ndarray, ...]
    exponents: np.ndarray
    prior: np.ndarray
    seen: float = 1.0
    novel: np.ndarray | None = None

    def applied(self, P: np.ndarray, codes: np.ndarray | None) -> np.ndarray:
        """Probabilities (n, k) of the pool with the guesses (n, s) put in, or without any if these are None."""
        if codes is None or not (codes >= 0).any():
            return P
        spoken = (codes >= 0).any(axis=1)
        some, prior = codes[spoken], np.log(self.prior)
        logits = prior + self.exponents[0] * (np.log(_modest(P[spoken], self.prior, self.seen, self.novel)) - prior)
        for matrix, own, t in zip(self.matrices, some.T, self.exponents[1:]):
            logits += t * np.where(own >= 0, np.log(matrix[:, own]), 0.0).T
        out = P.copy()
        out[spoken] = softmax(logits, axis=1)
        return out


def _modest(P: np.ndarray, prior: np.ndarray, seen: float, novel: np.ndarray | None = None) -> np.ndarray:
    """P (n, k) mixed with the class frequencies, as the pool does not recognize a class whose only label is held out.

    Classes that no label has (`novel`) have their prior probability.
    """
    P = seen * P + (1 - seen) * prior
    if novel is not None and novel.any():
        rest = np.where(novel, 0.0, P)
        left = 1 - np.sum(prior * novel, axis=-1, keepdims=True)
        P = np.where(novel, prior, rest * (left / rest.sum(axis=1, keepdims=True)))
    return np.maximum(P, 1e-12)


def _excess(joint: np.ndarray, alone: np.ndarray) -> float:
    """Dependence of two guesses given the class, from 0 for independent ones to 1 for copies of each other.

    It is the mutual information of the joint frequencies (a, b) beyond that of the products of the two confusion
    matrices, divided by the largest possible value.
    """

    def information(table: np.ndarray) -> float:
        apart = np.outer(table.sum(axis=1), table.sum(axis=0))
        return float(
            np.sum(np.where(table > 0, table * np.log(np.maximum(table, 1e-300) / np.maximum(apart, 1e-300)), 0))
        )

    sides = joint.sum(axis=1), joint.sum(axis=0)
    most = min(-float(np.sum(side[side > 0] * np.log(side[side > 0]))) for side in sides)
    low = information(alone)
    return float(np.clip((information(joint) - low) / max(most - low, 1e-9), 0.0, 1.0)) if most > low else 0.0


def _exponents(
    features: np.ndarray,
    prior: np.ndarray,
    mass: np.ndarray,
    center: np.ndarray,
    spread: float = 0.2,
    most: float = 2.0,
) -> np.ndarray:
    """(f,) exponents of features (f, l, k) that make labels of mass (l, k) most likely, from 0 to `most`.

    center, spread : of their Gaussian prior.
    """
    if not mass.any():
        return center

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        logs = log_softmax(prior + np.einsum("f,flk->lk", theta, features), axis=1)
        off = (theta - center) / spread
        slope = np.einsum("flk,lk->f", features, np.exp(logs) * mass.sum(axis=1, keepdims=True) - mass)
        return float(-np.sum(mass * logs) + 0.5 * off @ off), slope + off / spread

    found = minimize(loss, center, jac=True, method="L-BFGS-B", bounds=[(0.0, most)] * len(center))
    return np.asarray(found.x)
