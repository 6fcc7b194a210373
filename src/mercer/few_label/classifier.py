"""FewLabelClassifier: a few labels in, all labels out, with the method chosen, weighed and explained."""

from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..errors import InputError
from ..evidence.calibration import calibrate, probabilities, two_columns, typical_margin
from ..evidence.choice import accuracy_interval, hits
from ..inputs.labels import labelled_accuracy, read_labels
from ..inputs.weights import seed_of
from .model import FewLabelModel
from .plan import methods_named, planned
from .predictor import Predictor
from .priors import estimated_shares, offsets_for, wanted_shares
from .run import search
from .summary import Report
from .weights import evidence, left_out_average, pick, weigh


class FewLabelClassifier(ClassifierMixin, FewLabelModel):
    """Label all rows from a few labelled ones, without choosing a method or a parameter.

    .. math:: f = \\sum_m w_m f_m / \\|f_m\\|, \\qquad w_m \\propto \\exp\\Big(-t \\sum_{i \\in L} \\ell_{mi}\\Big)

    with ℓ the Brier score of candidate m on label i when that label is withheld, and t = 1/(1 + l/100) for l labels.
    The candidates are LS-SVMs, Semi-KPCA, LS-KPCA and graph methods on several views of the rows, all with values fixed
    beforehand. Where the labels cannot tell them apart they are averaged; where they can, the average becomes a choice.
    The place to start when there are few labels and no reason yet to prefer a method.

    Parameters
    ----------
    methods : "auto", "all" or list of names, default="auto"
        Which methods may take part: see `mercer.few_label.plan.METHODS`. "all" adds the slower ones.
    combine : {"average", "pick"}, default="average"
        "pick" keeps one candidate: the first, a label-free default, unless another is better by more than the noise.
    time_budget : float or None, default=240
        Seconds after which no further feature space is built (the most useful come first; three are always built).
        None sets no limit. An interrupt (Ctrl-C) during the search ends it likewise: what was tried so far is used.
    abstain : float or None, default=None
        Rows whose confidence is below this are not labelled: `predict` and `transduction_` give them the mark -1 (""
        where class names are text, NaN where -1 is a class).
    prior : None, "labels", "estimate", dict or list of shares, default=None
        What is known of the class shares among all rows. None leaves the scores alone. "labels": the shares among the
        labels hold for all rows, right when the labelled rows were drawn at random. "estimate": from the scores. Or the
        shares themselves, by class.
    missing_label : as in `KernelClassifier`.
    random_state : seed of landmarks and components; None is 0.
    verbose : bool or callable, default=False
        True prints what `fit` is doing. A function is called with (stage, fraction): what begins now, in words, and how
        much of the search is done, from 0 to 1; raising KeyboardInterrupt in it ends the search like Ctrl-C.

    Attributes
    ----------
    transduction_ : (n,) given labels, and predicted ones for the other rows.
    probabilities_ : (n, k) what `predict_proba` says of the training rows.
    confidence_ : (n,) probability of the predicted class, 1 for given labels.
    abstained_ : (n,) rows that were not labelled, for lack of confidence.
    report_ : what was tried, with estimates, weights and times; ``print(model.report_)``.
    left_out_accuracy_, accuracy_interval_ : honest estimate of the accuracy, and its 95 % interval: every label is
        withheld from the candidates and from their weights.
    classes_, prior_ : (k,) class names; class shares among the labels, or those asked for or estimated.
    weights_ : (m,) weights of the candidates in `candidates_`.
    linear_ : number of the heaviest candidate whose scores are linear in the labels, or None: the effect of one more
        label is known for it.

    Notes
    -----
    Cost at n = 1 500: some ten decompositions, about 15 s on one core. Above 5 000 rows landmarks and sparse graphs on
    the leading components. `teach`, `unteach` and `relabel` keep all decompositions: a second or so.

    `predict` on an unlabelled training row gives its `transduction_`, to rounding. Two exceptions: where several
    training rows are equal, graph methods may score each a little differently, and `predict`, which cannot know which
    one is meant, gives their mean; and on a row with a given label `predict` says what the model thinks of it.

    Examples
    --------
    >>> from mercer import FewLabelClassifier
    >>> X = [[0.0], [0.1], [0.2], [0.3], [1.0], [1.1], [1.2], [1.3]]
    >>> y = ["low", None, None, "low", "high", None, None, "high"]
    >>> FewLabelClassifier().fit(X, y).transduction_.tolist()
    ['low', 'low', 'low', 'low', 'high', 'high', 'high', 'high']
    """

    _parameter_constraints: ClassVar[dict] = {
        "methods": "no_validation",
        "combine": [StrOptions({"average", "pick"})],
        "time_budget": [None, Interval(Real, 0, None, closed="neither")],
        "abstain": [None, Interval(Real, 0, 1, closed="both")],
        "prior": "no_validation",
        "missing_label": "no_validation",
        "random_state": "no_validation",
        "verbose": ["verbose", callable],
    }

    def __init__(
        self,
        methods="auto",
        *,
        combine="average",
        time_budget=240.0,
        abstain=None,
        prior=None,
        missing_label="auto",
        random_state=None,
        verbose=False,
    ):
        self.methods = methods
        self.combine = combine
        self.time_budget = time_budget
        self.abstain = abstain
        self.prior = prior
        self.missing_label = missing_label
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y):
        """Fit on all rows; y marks the unlabelled ones (NaN, None, "" or -1; see `missing_label`).

        Parameters
        ----------
        X : (n, d) rows, dense or sparse, or a data frame of any columns (see `mercer.inputs.tables.TableEncoder`).
        y : (n,) class names and marks.
        """
        self._validate_params()
        methods = methods_named(self.methods)
        X = self._rows(X, reset=True)
        labels = read_labels(y, self.missing_label, n_rows=X.shape[0])
        shares = wanted_shares(self.prior, labels)
        plan = planned(X, methods, seed_of(self.random_state))
        found = search(plan, labels, self.time_budget, self._tell)
        self.candidates_, self.skipped_, self.interrupted_ = found.candidates, found.skipped, found.interrupted
        return self._learn(labels, shares, found.fitted)

    def teach(self, rows, labels):
        """Add or change the labels of some training rows; equal to a fit with them, without its decompositions.

        Parameters
        ----------
        rows : row numbers of the training data.
        labels : one class name, or one for each row. A new class is accepted.
        """
        self.check_whole("teach")
        rows = self._row_numbers(rows)
        names = [labels] * len(rows) if np.ndim(labels) == 0 else list(labels)
        if len(names) != len(rows):
            raise InputError(
                f"{len(rows)} rows and {len(names)} labels were given. Give one label, or one for each row."
            )
        given = np.empty(len(rows), dtype=object)
        given[:] = names
        return self._relabel(rows, given)

    def unteach(self, rows):
        """Take the labels of some training rows back; equal to a fit without them."""
        self.check_whole("unteach")
        rows = self._row_numbers(rows)
        return self._relabel(rows, np.full(len(rows), None, dtype=object))

    def relabel(self, y):
        """Other labels for the same training rows; equal to a fit with them, without its decompositions."""
        self.check_whole("relabel")
        return self._learn_again(read_labels(y, self.missing_label, n_rows=len(self.labels_.codes)))

    @property
    def left_out_probabilities_(self):
        """(l, k) probabilities of the labelled rows that could be tested, each from a fit without its label."""
        return self._probabilities(self.left_out_scores_[self.labels_.testable])

    def decision_function(self, X):
        """Averaged scores: (n,), positive for `classes_[1]`, with two classes; else (n, k), the largest wins."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X):
        """Class probabilities, calibrated on left-out labels and never above (l + 1) / (l + 2) for l labels."""
        return self._probabilities(self._scores(X))

    def predict(self, X):
        """The class of each row; the mark -1 (or "") where the confidence is below `abstain`."""
        P = self.predict_proba(X)
        return self._named(np.argmax(P, axis=1), P.max(axis=1))

    def score(self, X, y, sample_weight=None):
        """Accuracy over the rows of y that carry a label; a row that was not labelled counts as wrong."""
        check_is_fitted(self)
        return labelled_accuracy(y, self.predict(X), self.classes_, self.missing_label, sample_weight)

    def with_prior(self, scores):
        """Scores (n, k') with the class shares that were asked for put in, as they stand behind the probabilities."""
        b = self.offsets_
        return scores + (b[1:] - b[:1] if scores.shape[1] == 1 else b) / self.calibration_[0]

    # Labels in

    def _learn(self, labels, shares, fitted):
        """Everything that follows from the candidates fitted to the labels."""
        self.labels_, self.classes_ = labels, labels.classes
        tested = labels.testable
        codes = labels.codes[labels.labelled[tested]]
        left_out = np.array([candidate.solution.left_out[tested] for candidate in fitted])
        losses = evidence(left_out, codes)
        self.weights_, why = pick(left_out, codes) if self.combine == "pick" else (weigh(losses), None)
        used = np.flatnonzero(self.weights_)
        scale = np.ones(len(fitted))
        n, k = len(labels.codes), labels.signs.shape[1]
        scores, self.votes_ = np.zeros((n, k)), np.zeros((n, labels.n_classes))
        for m in used:
            own = fitted[m].solution.scores(fitted[m].space.Z)
            scale[m] = float(np.sqrt(np.mean(own**2))) or 1.0
            scores += self.weights_[m] / scale[m] * own
            self.votes_[np.arange(n), two_columns(own).argmax(axis=1)] += self.weights_[m]
        heaviest = np.argsort(-self.weights_, kind="stable").tolist()
        self.linear_ = next((m for m in heaviest if fitted[m].solution.influence is not None), None)
        self.predictor_ = Predictor.of([fitted[m] for m in used], (self.weights_ / scale)[used])
        average = left_out_average(left_out, losses, self.weights_, scale)
        self._calibrate(scores, average, labels, shares)
        self._answer(scores, average, labels)
        self.report_ = Report.of(self, fitted, left_out, losses, codes, why)
        return self

    def _calibrate(self, scores, average, labels, shares):
        tested = labels.testable
        result = calibrate(average, labels.given[tested], typical_margin(scores), n_labels=len(labels.labelled))
        self.calibration_ = result.value
        slope = self.calibration_[0]
        counts = labels.counts()
        among = (counts + 1) / (counts.sum() + len(counts))
        self.prior_, self.offsets_ = among, np.zeros(len(counts))
        if isinstance(self.prior, str) and self.prior == "estimate":
            self.prior_ = estimated_shares(scores[labels.codes < 0], slope, counts)
            self.offsets_ = np.log(self.prior_ / among)
        elif self.prior is not None:
            self.prior_ = among if shares is None else shares
            self.offsets_ = offsets_for(scores, slope, self.prior_)

    def _answer(self, scores, average, labels):
        self.scores_ = scores
        P = self.probabilities_ = self._probabilities(scores)
        given = labels.codes >= 0
        self.confidence_ = np.where(given, 1.0, P.max(axis=1))
        self.predicted_ = np.argmax(P, axis=1)
        self.transduction_ = self._named(np.where(given, labels.codes, self.predicted_), self.confidence_)
        self.abstained_ = self.confidence_ < (self.abstain or 0.0)
        self.left_out_scores_ = np.full((len(labels.labelled), scores.shape[1]), np.nan)
        self.left_out_scores_[labels.testable] = average
        right = hits(self.with_prior(average)[None], labels.codes[labels.labelled[labels.testable]])[0]
        self.left_out_accuracy_ = float(right.mean()) if len(right) else float("nan")
        self.accuracy_interval_ = accuracy_interval(int(right.sum()), len(right))

    def _relabel(self, rows, given):
        labels = self.labels_
        if labels.soft:
            raise InputError("The model was fitted with class probabilities; teach and unteach need one name per row.")
        y = np.full(len(labels.codes), None, dtype=object)
        y[labels.labelled] = [self.classes_.tolist()[code] for code in labels.codes[labels.labelled]]
        y[rows] = given
        return self._learn_again(read_labels(y, missing_label=[]))

    def _learn_again(self, labels):
        shares = wanted_shares(self.prior, labels)
        return self._learn(labels, shares, [candidate.solve(labels) for candidate in self.candidates_])

    # Answers out

    def _scores(self, X):
        check_is_fitted(self)
        return self.predictor_.scores(self._rows(X, reset=False))

    def _probabilities(self, scores):
        return probabilities(self.with_prior(scores), *self.calibration_)

    def _named(self, codes, confidence):
        names, doubtful = self.classes_[codes], confidence < (self.abstain or 0.0)
        if not doubtful.any():
            return names
        if self.classes_.dtype.kind in "US":
            return np.where(doubtful, "", names)
        return np.where(doubtful, np.nan if -1 in self.classes_ else -1, names)
