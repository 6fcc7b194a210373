"""How accurate each source of hints is, which of its guesses are probably wrong, and which rows to check next."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..evidence.accuracy import Rate
from ..evidence.powered import Powered, clopper_pearson, powered
from ..few_label.classifier import FewLabelClassifier
from ..few_label.summary import unnamed_sentences
from ..types import Estimator

WORTH = 0.2  # a guess is worth a look if it is wrong with at least this probability
WIDTH = 0.05  # half width of the interval at which more checks change little


@dataclass(frozen=True)
class ClassAudit:
    """The audit of the guesses of one class.

    Attributes
    ----------
    name : the class.
    n_rows : number of rows for which the source names this class.
    checks : how many of these rows were checked.
    correct : the precision, which is how often the class is correct if the source names it.
    found : the recall, which is how often the source names the class if it is correct.
    labeled : whether a label names this class. If not, it is a word of the source.
    """

    name: Any
    n_rows: int
    checks: int
    correct: Rate
    found: Rate
    labeled: bool = True


@dataclass(frozen=True)
class SourceAudit:
    """The audit of one source of hints.

    Attributes
    ----------
    name : of the source. n_rows : rows with a hint.
    accuracy : Powered, how many of the hints are correct. classes : one `ClassAudit` per class.
    rows, wrong : (m,) numbers of the rows without a label, and the probability that their hint is wrong. The hints that
        are most likely wrong come first.
    said, proposed : (m,) the hints for these rows, and the predicted classes.
    """

    name: str
    n_rows: int
    accuracy: Powered
    classes: list[ClassAudit]
    rows: np.ndarray
    wrong: np.ndarray
    said: np.ndarray
    proposed: np.ndarray

    @property
    def expected_wrong(self) -> float:
        """Expected number of wrong hints among the rows without a label."""
        return float(self.wrong.sum())

    @property
    def worth(self) -> int:
        """Number of rows whose hint is wrong with a probability of at least 0.2. They are worth a look."""
        return int(np.sum(self.wrong >= WORTH))

    @property
    def more(self) -> int:
        """How many more random checks bring the interval to about ±5 points."""
        rate, gain = self.accuracy.rate, self.accuracy.effective / max(self.accuracy.checks, 1)
        value = float(np.clip(rate.value, 0.05, 0.95)) if np.isfinite(rate.value) else 0.5
        needed = 1.96**2 * value * (1 - value) / WIDTH**2 / max(gain, 1.0)
        if np.isfinite(rate.value) and rate.high - rate.low <= 2 * WIDTH:
            return 0
        return max(int(np.ceil(needed)) - self.accuracy.checks, 1)

    @property
    def sentences(self) -> list[str]:
        """Return sentences about this source."""
        found, number = self.accuracy, self.accuracy.checks
        if not number:
            return [f"{self.name}: no row with a hint was labeled after a random draw, so its accuracy is not known."]
        rate = found.rate
        said = [
            f"{self.name}: about {rate.value:.0%} of its {self.n_rows} guesses are correct (95% CI {rate.low:.0%} to "
            f"{rate.high:.0%}). {number} labels count as {found.effective:.0f} with the help of the model. Alone they "
            f"give {found.plain.low:.0%} to {found.plain.high:.0%}."
        ]
        if len(self.rows):
            inside = float(self.wrong[: self.worth].sum())
            said.append(
                f"About {self.expected_wrong:.0f} of the {len(self.rows)} guesses without a label are wrong. The "
                f"{self.worth} most doubtful ones contain about {inside:.0f} of them. After these, fewer than one in "
                f"{round(1 / WORTH)} is wrong, so you may stop there."
            )
        if self.more:
            said.append(f"About {self.more} more random checks would bring the interval to ± {100 * WIDTH:.0f} points.")
        else:
            said.append("More random checks would narrow the interval little.")
        return said


@dataclass(frozen=True)
class Audit:
    """The audit of all sources of hints.

    Attributes
    ----------
    sources : list of SourceAudit
    n_drawn : labels of rows drawn at random, on which the accuracies rest. n_labels : all labels.
    notes : sentences about guesses that no label names.
    """

    sources: list[SourceAudit]
    n_drawn: int
    n_labels: int
    notes: list[str]

    def __getitem__(self, name: str) -> SourceAudit:
        for one in self.sources:
            if one.name == name:
                return one
        raise InputError(f"There is no source {name!r}. Accepted: {', '.join(one.name for one in self.sources)}.")

    @property
    def sentences(self) -> list[str]:
        """Return sentences about all sources."""
        first = []
        if not self.n_drawn:
            first = ["Every labeled row was chosen, so no accuracy can be estimated. Label some rows drawn at random."]
        return [*first, *(sentence for one in self.sources for sentence in one.sentences), *self.notes]

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def audit(model: Estimator) -> Audit:
    """Measure the sources of hints of a model against the labels of rows that were drawn at random.

    Parameters
    ----------
    model : estimator
        A `FewLabelClassifier` fitted with hints. Pass `drawn` to its `fit` to state which labels were drawn at random.

    Returns
    -------
    Audit
        The accuracy of each source, and the rows whose hints are probably wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import FewLabelClassifier, audit
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 300)
    >>> X, guess = rng.normal(size=(300, 2)) + 2 * y[:, None], np.where(rng.random(300) < 0.8, y, 1 - y)
    >>> model = FewLabelClassifier(["lssvm"]).fit(X, np.where(np.arange(300) < 60, y, -1), hints={"llm": guess})
    >>> found = audit(model)["llm"]
    >>> found.accuracy.rate.low < 0.8 < found.accuracy.rate.high, found.accuracy.effective > 60
    (True, True)
    """
    if not isinstance(model, FewLabelClassifier) or not hasattr(model, "answers_"):
        raise InputError(f"audit needs a fitted FewLabelClassifier, not {type(model).__name__}.")
    if model.hints_ is None:
        raise InputError("The model was fitted without hints, so there is nothing to audit. Fit with hints=.")
    if not len(model.hints_.codes):
        raise InputError("This model is compact and has no hints of the training rows. Fit again on these.")
    labels, answers, hints = model.labels_, model.answers_, model.hints_
    truth, drawn = labels.codes[labels.labeled], model.drawn_[labels.labeled]
    if labels.testable.all():
        held = model.left_out_probabilities_
    else:  # the only label of a class
        held = answers.held_out_probabilities.copy()
        held[labels.testable] = model.left_out_probabilities_
    unnamed = 2.0  # checks that the source's overall accuracy counts for if no label names a word
    free = np.flatnonzero(answers.given < 0)
    P, guess = answers.probabilities[free], model.classes_[answers.codes]
    sources = []
    for j, (name, named) in enumerate(zip(hints.names, hints.classes(model.classes_))):
        code = hints.codes[:, j]
        hinted = np.where(code >= 0, named[code], -2)  # -1 is a word that is not a class, -2 means no hint
        own = hinted[labels.labeled]
        counted = drawn & (own > -2)
        right, among = own == truth, free[hinted[free] > -2]
        hope, others = _of(held, own), _of(P, hinted[free])
        for word in np.flatnonzero(named < 0):  # no label names it, so its accuracy is a guess
            mine, checked = code[labels.labeled] == word, int(np.sum(counted & (code[labels.labeled] == word)))
            usual = (1 + np.sum(right & counted)) / (2 + np.sum(counted & (own >= 0)))
            hope[mine] = unnamed * usual / (unnamed + max(checked - 1, 0))
            others[code[free] == word] = unnamed * usual / (unnamed + checked)
        some = hinted[free] > -2
        found = powered(right[counted], hope[counted], others[some])
        classes = []
        for c, word in enumerate(model.classes_.tolist()):
            here, there = counted & (own == c), others[hinted[free] == c]
            precision = powered(right[here], hope[here], there).rate
            true = counted & (truth == c)
            recall = clopper_pearson(float(right[true].mean()) if true.any() else float("nan"), int(true.sum()))
            named_by_label = bool(np.any(truth == c))
            n_rows = int(np.sum(hinted == c))
            classes.append(ClassAudit(word, n_rows, int(here.sum()), precision, recall, named_by_label))
        for word in np.flatnonzero((named < 0) & (np.bincount(code[code >= 0], minlength=len(named)) >= 2)):
            here = counted & (code[labels.labeled] == word)
            precision, number = clopper_pearson(0.0, int(here.sum())), int(np.sum(code == word))
            missing = clopper_pearson(float("nan"), 0)
            classes.append(ClassAudit(hints.words[j][word], number, int(here.sum()), precision, missing, False))
        wrong = 1 - others[some]
        order = np.argsort(-wrong, kind="stable")
        rows = among[order]
        said = hints.words[j][code[rows]]
        numbers = model.row_numbers(rows)
        sources.append(
            SourceAudit(name, int(np.sum(hinted > -2)), found, classes, numbers, wrong[order], said, guess[rows])
        )
    return Audit(sources, int(drawn.sum()), len(labels.labeled), unnamed_sentences(model))


def _of(P: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the (n,) probabilities of the classes that hints name. They are 0 if a hint names none."""
    return np.where(codes >= 0, P[np.arange(len(P)), np.maximum(codes, 0)], 0.0)
