"""What a few-label classifier learns from candidates that are fitted to labels: weights, answers, calibration."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..evidence.likelihood import log_scores, sharpen
from .answers import Scorer, blocks, own_matrices, sample_matrices, votes
from .priors import estimated_shares, offsets_for, wanted_shares
from .spaces import sample_rows
from .summary import tried
from .weights import pool

# Of the prior of the power, log s ~ N(0, spread²). On pixels, words and other wide rows a pool of candidates that
# disagree is more often right than it says, on tables it is not: benchmarks/results/evidence.md has both sides.
SPREAD, SPREAD_WIDE = 0.25, 0.6
SPREAD_CHOSEN = 0.7  # where some labels were drawn and some chosen: these are harder than others


class Learning:
    """Mixin of `FewLabelClassifier`."""

    prior: Any
    combine: str
    abstain: Any
    on_update: Any
    drawn_: np.ndarray
    outside_: Any
    _wide: bool
    labels_: Any
    candidates_: list
    weights_: np.ndarray
    fitted_candidates: Any
    _pool: Any
    _everything: list
    _fitted: list
    _tried: Any
    _estimate: Any
    _report: Any
    _predictor: list
    _votes: list
    _named: Any
    _probabilities: Any
    twin: Any

    @property
    def votes_(self):
        """(n, k) weight of the candidates for which each class is the best; computed when first asked for."""
        if not self._votes:
            found = np.empty(self.probabilities_.shape)
            for rows, own in self._scores_of_all():
                found[rows] = votes(own, self.weights_[self._pool.used])
            self._votes.append(found)
        return self._votes[0]

    def votes_of(self, rows):
        """`votes_` of some rows."""
        if self._votes:
            return self._votes[0][rows]
        used, fitted = self._pool.used, self.fitted_candidates()
        return votes(np.array([fitted[m].scores(rows).T for m in used]), self.weights_[used])

    def _keep(self, found):
        self.candidates_, self.skipped_, self.interrupted_ = found.candidates, found.skipped, found.interrupted
        self._everything = found.everything

    def _learn_so_far(self, labels, found):
        self._keep(replace(found, everything=[*found.everything], candidates=[*found.candidates]))
        self._learn(labels, [*found.fitted])

    def _rough(self, labels):
        """What `search` calls when it has come far enough for a better answer: `on_update` with a model of it."""
        if self.on_update is None:
            return None

        def update(found):
            new = self.twin()
            new._learn_so_far(labels, found)
            self.on_update(new)

        return update

    def _learn(self, labels, fitted):
        """Everything that follows from the candidates fitted to the labels."""
        shares = wanted_shares(self.prior, labels)
        self.labels_, self.classes_ = labels, labels.classes
        scores = self._sample_scores(fitted)
        found = pool(fitted, labels, scores, self.combine)
        self.weights_, self._pool, self._fitted = found.weights, found, fitted
        self.scores_ = np.empty((len(labels.codes), labels.n_classes if labels.n_classes > 2 else 1))
        for rows, own in self._scores_of_all(scores):
            self.scores_[rows] = log_scores(found.mean(own))
        heaviest = np.argsort(-found.weights, kind="stable").tolist()
        self.linear_ = next((m for m in heaviest if fitted[m].influence is not None), None)
        self.linear_slope_ = 1.0 if self.linear_ is None else float(found.slopes[self.linear_])
        self._calibrate(found.left_out, labels, shares)
        self._answer(found.left_out, labels)
        self._tried, self._estimate, self._report, self._predictor = tried(fitted, found, labels), None, None, []
        self._votes = []
        return self

    def _sample_scores(self, fitted):
        """(m, k', s) scores of the training rows of `sample_rows`, of those of the core if there is one."""
        core = np.arange(len(self.drawn_)) if self.outside_ is None else self.outside_.core
        return Scorer(fitted, sample_matrices, core[sample_rows(len(core))]).scores(slice(None))

    def _scores_of_all(self, known=None):
        """Pairs of (row numbers, (m', k', b) scores of the candidates that have weight), block by block, for all rows.

        known : what `_sample_scores` found, which need not be computed again if it is of all rows.
        """
        used, outside, n = self._pool.used, self.outside_, len(self.drawn_)
        fitted = [self.fitted_candidates()[m] for m in used]
        core = None if outside is None else outside.core
        numbers = np.arange(n) if core is None else core
        if known is not None and known.shape[2] == len(numbers):
            yield from ((numbers[block], known[used, :, block]) for block in blocks(len(numbers)))
        else:
            scorer = Scorer(fitted, own_matrices, core)
            yield from ((numbers[block], scorer.scores(block)) for block in blocks(len(numbers)))
        if outside is not None:
            scorer = Scorer(fitted, outside.matrices, outside.rows)
            yield from ((outside.rows[block], scorer.scores(block)) for block in blocks(len(outside.rows)))

    def _calibrate(self, left_out, labels, shares):
        """The power of the pooled probabilities that the left-out labels ask for, and the class shares."""
        counts, tested = labels.counted @ labels.given, labels.testable
        drawn = self.drawn_[labels.labelled[tested]]
        spread = SPREAD_WIDE if self._wide else SPREAD
        spread = spread if drawn.all() or not drawn.any() else SPREAD_CHOSEN
        count = labels.counted[tested] * (drawn if drawn.any() else 1.0)
        s = sharpen(left_out, labels.given[tested], spread, count)
        self.calibration_ = s, 0.0
        among = (counts + 1) / (counts.sum() + len(counts))
        self.prior_, self.offsets_, scores = among, np.zeros(len(counts)), self.scores_
        if isinstance(self.prior, str) and self.prior == "estimate":
            self.prior_ = estimated_shares(scores[labels.codes < 0], s, counts)
            self.offsets_ = np.log(self.prior_ / among)
        elif self.prior is not None:
            self.prior_ = among if shares is None else shares
            self.offsets_ = offsets_for(scores, s, self.prior_)

    def _answer(self, left_out, labels):
        """Probabilities, classes and confidences of all rows."""
        P = self.probabilities_ = np.empty((len(self.scores_), labels.n_classes))
        for rows in blocks(len(P)):
            P[rows] = self._probabilities(np.asfortranarray(self.scores_[rows]))  # sums of classes run along rows
        if self.outside_ is not None:
            doubted = self.outside_.trust < 1.0
            others, trust = self.outside_.rows[doubted], self.outside_.trust[doubted, None]
            P[others] = trust * P[others] + (1 - trust) * self.prior_
        given = labels.codes >= 0
        self.seen_ = float(np.mean(labels.testable))  # share of rows whose class has a label (Good and Turing)
        self.predicted_ = np.argmax(P, axis=1)
        self.confidence_ = np.where(given, 1.0, self.seen_ * P[np.arange(len(P)), self.predicted_])
        self.transduction_ = self._named(np.where(given, labels.codes, self.predicted_), self.confidence_)
        self.abstained_ = self.confidence_ < (self.abstain or 0.0)
        self.left_out_scores_ = np.full((len(labels.labelled), self.scores_.shape[1]), np.nan)
        self.left_out_scores_[labels.testable] = log_scores(left_out)
