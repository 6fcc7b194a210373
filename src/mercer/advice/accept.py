"""Predictions that can be accepted with a promise on the fraction of wrong ones."""

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..evidence.groups import copied_labels
from ..evidence.promise import kept, missing
from ..few_label.classifier import FewLabelClassifier
from ..types import Estimator


@dataclass(frozen=True)
class Offer:
    """The rows with the largest confidence, down to a threshold. They may be accepted together.

    Attributes
    ----------
    rows : (m,) places of unlabeled rows, the most confident first. threshold : the lowest confidence among them.
    checks, wrong : random checks whose held-out confidence is as high, and those whose held-out prediction is wrong.
    kept : whether the promise can be made.
    more : estimated number of further checks among these rows that the promise needs. It is 0 if none is needed, and
        None if the predictions are too inaccurate.
    """

    rows: np.ndarray
    threshold: float
    checks: int
    wrong: int
    kept: bool
    more: int | None


@dataclass(frozen=True)
class Accepted:
    """Rows whose predictions can be accepted with a promise.

    Attributes
    ----------
    rows : (m,) numbers of the accepted rows, the most confident first. None of them has a given label.
    threshold : lowest confidence among them, NaN if there are none.
    checks, wrong : random checks of such rows, and those of them whose held-out prediction is wrong.
    missing : int or None
        How many more random checks among the `missing_among` most confident rows would allow to accept these. None if
        nothing more can be accepted, or if the predictions are not good enough.
    missing_among : int
        How many rows that would accept. `missing_drawn` : how many rows must be drawn at random among all rows for
        so many checks to fall among them.
    wrong_at_most, certainty : what was requested.
    n_free : rows without a label.
    """

    rows: np.ndarray
    threshold: float
    checks: int
    wrong: int
    missing: int | None
    missing_among: int
    missing_drawn: int | None
    wrong_at_most: float
    certainty: float
    n_free: int

    def __str__(self) -> str:
        return " ".join(self.sentences)

    @property
    def sentences(self) -> list[str]:
        """Return sentences on what is promised, and on what it would take to promise more."""
        rate, sure = f"{100 * self.wrong_at_most:.3g}%", f"{100 * self.certainty:.3g}%"
        if len(self.rows):
            found = [
                f"{len(self.rows)} of {self.n_free} predictions are accepted, those of confidence {self.threshold:.3f} "
                f"or more: at most {rate} of them are wrong, with {sure} certainty.",
                f"{self.wrong} of {self.checks} random checks of such rows were wrong.",
            ]
        else:
            found = [f"No prediction can be accepted yet with at most {rate} wrong and {sure} certainty."]
        if self.missing:
            checks = f"{self.missing} more random check{'' if self.missing == 1 else 's'}"
            found += [
                f"About {checks} among the {self.missing_among} most confident rows would allow to accept these, if "
                "they come out as those so far.",
                f"That is about {self.missing_drawn} more rows drawn at random among all rows.",
            ]
        elif not len(self.rows):
            found.append(
                "More checks would not help so far, because the predictions are not accurate enough. Give more labels."
            )
        return found


def accept(model: Estimator, wrong_at_most: float = 0.05, certainty: float = 0.95) -> Accepted:
    """Find the largest set of predictions with at most a given fraction of wrong ones.

    The promise rests on the labels of rows that were drawn at random (see `drawn` in `FewLabelClassifier.fit`). Each of
    them is judged by fits that did not know it. The promise is valid at every moment. You may add labels one by one and
    look after each, until enough rows are accepted (see `mercer.evidence.promise`).

    Parameters
    ----------
    model : estimator
        A fitted `FewLabelClassifier`.
    wrong_at_most : float, default=0.05
        Largest fraction of wrong predictions among the accepted rows.
    certainty : float, default=0.95
        Probability that the promise is kept.

    Returns
    -------
    Accepted
        The accepted rows, the random checks behind the promise, and what it would take to accept more.

    Examples
    --------
    >>> from mercer import FewLabelClassifier, accept
    >>> X = [[i / 100] for i in range(200)] + [[5 + i / 100] for i in range(200)]
    >>> y = [0 if i % 2 else -1 for i in range(200)] + [1 if i % 2 else -1 for i in range(200)]
    >>> found = accept(FewLabelClassifier(["lssvm"]).fit(X, y))
    >>> len(found.rows), found.checks, found.wrong
    (200, 200, 0)
    """
    if not isinstance(model, FewLabelClassifier) or not hasattr(model, "answers_"):
        raise InputError(f"accept needs a fitted FewLabelClassifier, not {type(model).__name__}.")
    for name, value in (("wrong_at_most", wrong_at_most), ("certainty", certainty)):
        if not isinstance(value, int | float) or not 0 < value < 1:
            raise InputError(f"Invalid {name}={value!r}; expected a number between 0 and 1, such as 0.05 or 0.95.")
    return accepted(model, wrong_at_most, certainty, *_checked(model))


def accepted(
    model: Estimator, wrong_at_most: float, certainty: float, judged: tuple[np.ndarray, np.ndarray], rows: np.ndarray
) -> Accepted:
    """Return the result of `accept`.

    Parameters
    ----------
    judged : (confidence, whether wrong) of the random checks, see `held_out`.
    rows : places of the rows that may be accepted.
    """
    offers, free = _offers(model, wrong_at_most, 1 - certainty, judged, rows), len(rows)
    best = max((one for one in offers if one.kept), key=lambda one: len(one.rows), default=None)
    taken = 0 if best is None else len(best.rows)
    larger = [one for one in offers if one.more and len(one.rows) > taken]
    following = min(larger, key=lambda one: (one.more or 0) / len(one.rows), default=None)
    number = 0 if following is None else len(following.rows)
    more = None if following is None or following.more is None else following.more
    return Accepted(
        rows=model.row_numbers(np.zeros(0, dtype=int) if best is None else best.rows),
        threshold=float("nan") if best is None else best.threshold,
        checks=0 if best is None else best.checks,
        wrong=0 if best is None else best.wrong,
        missing=more,
        missing_among=number,
        missing_drawn=None if more is None else int(np.ceil(more * free / number)),
        wrong_at_most=wrong_at_most,
        certainty=certainty,
        n_free=free,
    )


def offers_of(model: Estimator, wrong_at_most: float, error: float) -> list[Offer]:
    """Return the sets of rows that may be accepted, with their random checks. Empty sets are omitted."""
    return _offers(model, wrong_at_most, error, *_checked(model))


def _offers(
    model: Estimator, wrong_at_most: float, error: float, judged: tuple[np.ndarray, np.ndarray], free: np.ndarray
) -> list[Offer]:
    # Each set may use up a part of the uncertainty, and the parts add to 1. The sets are fixed before any check. One is
    # the more confident half of the rows. The others are the most confident rows of which the model itself expects at
    # most a multiple of the promised error. A multiple of infinity means all rows.
    half, multiples = 0.15, ((np.inf, 0.25), (1.0, 0.25), (0.5, 0.2), (0.2, 0.15))
    prior = 20.0  # checks that the model's own expectation counts for, to predict the result of further checks
    answers = model.answers_
    order = free[np.argsort(-answers.confidence[free], kind="stable")]
    confidence = answers.confidence[order]
    expected = np.cumsum(1 - confidence) / np.arange(1, len(order) + 1)
    sure, wrong = judged
    budgets = {len(order) // 2: half}
    for factor, part in multiples:
        number = int(np.searchsorted(expected, factor * wrong_at_most, side="right"))
        budgets[number] = budgets.get(number, 0.0) + part
    offers = []
    for number, part in budgets.items():
        if not number:
            continue
        threshold = float(confidence[number - 1])
        own = sure >= threshold if number < len(order) else np.ones(len(sure), dtype=bool)
        checks, bad = int(own.sum()), int(np.sum(wrong & own))
        rows, budget = number + checks, error * part
        ok = kept(bad, checks, rows, wrong_at_most, budget)
        rate = (bad + min(float(expected[number - 1]), wrong_at_most / 2) * prior) / (checks + prior) if bad else 0.0
        more = 0 if ok else missing(bad, checks, rows, wrong_at_most, budget, rate)
        offers.append(Offer(order[:number], threshold, checks, bad, ok, more))
    return offers


def _checked(model: Estimator) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Return ((confidence, whether wrong) of the random checks, places of the rows without a label)."""
    drawn, codes = model.drawn_[model.labels_.labeled], model.labels_.codes[model.labels_.labeled]
    sure, predicted = held_out(model)
    return (sure[drawn], (predicted != codes)[drawn]), np.flatnonzero(model.answers_.given < 0)


def held_out(model: Estimator) -> tuple[np.ndarray, np.ndarray]:
    """Return (confidence, class number) of the prediction for each labeled row by fits without its label.

    Each row is held out alone, and together with its copies if rows were copied with their labels. The only label of
    its class cannot be predicted once it is held out. Its class number is -1, with a confidence of 1.
    """
    answers, labels = model.answers_, model.labels_
    groups = copied_labels(model.library_.groups, labels.labeled)
    if len(np.unique(groups)) < len(groups):
        P = answers.held_out_probabilities
        return answers.confidence_of(P), P.argmax(axis=1)
    sure, predicted = np.ones(len(labels.labeled)), np.full(len(labels.labeled), -1)
    P, tested = model.left_out_probabilities_, labels.testable
    sure[tested], predicted[tested] = answers.confidence_of(P), P.argmax(axis=1)
    return sure, predicted
