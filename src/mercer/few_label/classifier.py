"""FewLabelClassifier: a few labels in, all labels out, with the method chosen, weighed and explained."""

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..backend import steady
from ..documentation import Documented
from ..errors import InputError
from ..evidence.calibration import probabilities
from ..evidence.likelihood import capped, log_scores
from ..homes import home_of
from ..inputs.labels import labelled_accuracy, read_labels, weigh_labels
from ..inputs.sampling import with_labels
from ..rows import by_row
from .estimates import Estimated
from .learning import Learning
from .plan import methods_named
from .predictor import Predictor
from .priors import wanted_shares
from .reading import Reading
from .sampled import Sampled
from .teaching import Preparable, core_of, drawn_mask


class FewLabelClassifier(ClassifierMixin, Learning, Estimated, Preparable, Sampled, Reading, Documented, BaseEstimator):
    """Label all rows from a few labelled ones, without choosing a method or a parameter.

    .. math:: P = \\sum_m w_m P_m, \\qquad w_m \\propto \\pi_m \\exp\\Bigl(-t \\sum_{i \\in L} \\ell_{mi}\\Bigr)

    with P_m the calibrated probabilities of candidate m, ℓ its log loss on label i when that label is withheld, and
    t = min(1, 5/k)/(1 + l/50) for l labels of k classes. Beside them stand answers at random, prior 1/5: where
    labels look like coin tosses, the probabilities are more modest. The candidates are LS-SVMs, Semi-KPCA,
    LS-KPCA and graph methods on several views of the rows, and two forests, all with values fixed beforehand. Where the
    labels cannot tell them apart they are averaged; where they can, the average becomes a choice. The place to start
    when there are few labels and no reason yet to prefer a method.

    Parameters
    ----------
    methods : "auto", "all" or list of names, default="auto"
        Which methods may take part: see `mercer.few_label.plan.METHODS`. "all" adds the slower ones.
    combine : {"average", "pick"}, default="average"
        "pick" keeps one candidate: the first, a label-free default, unless another is better by more than the noise.
    time_budget : float or None, default=240
        Seconds of work on one core, as estimated from the sizes: feature spaces beyond it are not built (the most
        useful come first; three are always built). No clock is asked, so the answer does not depend on the machine.
        None sets no limit. An interrupt (Ctrl-C) during the search ends it likewise: what was tried so far is used.
    abstain : float or None, default=None
        Rows whose confidence is below this are not labelled: `predict` and `transduction_` give them the mark -1 (""
        where class names are text, NaN where -1 is a class).
    prior : None, "labels", "estimate", dict or list of shares, default=None
        What is known of the class shares among all rows. None leaves the scores alone. "labels": the shares among the
        labels hold for all rows, right when the labelled rows were drawn at random. "estimate": from the scores. Or the
        shares themselves, by class.
    class_weight : None, "balanced" or dict, default=None
        How much a label counts, by class; a class that the dict does not name has 1. "balanced" gives all classes the
        same total. The answers then favour rare classes more; to say how frequent they are, use `prior`.
    include : names of columns of a data frame to use although they tell labelled rows from the others.
    missing_label : as in `KernelClassifier`.
    random_state : seed of landmarks and components; None is 0.
    verbose : bool or callable, default=False
        True prints what `fit` is doing. A function is called with (stage, fraction): what begins now, in words, and how
        much of the search is done, from 0 to 1; raising KeyboardInterrupt in it ends the search like Ctrl-C.
    on_update : function or None, default=None
        Called during `fit` with a model that answers already, from the candidates so far: after the first feature
        space, and each time that the work done has doubled. The fitted model is the same with and without it.

    Attributes
    ----------
    transduction_ : (n,) given labels, and predicted ones for the other rows.
    probabilities_ : (n, k) what `predict_proba` says of the training rows.
    confidence_ : (n,) probability of the predicted class, 1 for given labels; times the share of rows whose class has
        a label at all, as far as single labels tell.
    abstained_ : (n,) rows that were not labelled, for lack of confidence.
    report_ : what was tried, with estimates, weights and times; ``print(model.report_)``.
    estimate_ : `mercer.evidence.accuracy.Estimate`: accuracy with its 95 % interval, recall and precision of each
        class, the share of rows in classes without a label. Labels are withheld in folds, and candidates, slopes and
        weights are fitted again without them. Computed when first asked for.
    left_out_accuracy_, accuracy_interval_ : accuracy and interval of `estimate_`.
    classes_, prior_ : (k,) class names; class shares among the labels, or those asked for or estimated.
    weights_ : (m,) weights of the candidates in `candidates_`.
    sample_, stability_ : in Dask, the rows that were fitted, and how many answers a fit to another sample shares.
    linear_ : number of the heaviest candidate whose scores are linear in the labels, or None: the effect of one more
        label is known for it.

    Notes
    -----
    Cost at n = 1 500: some ten decompositions, about 2 s on one core. Above 5 000 rows landmarks and sparse graphs on
    the leading components. Above 50 000 rows a random sample of so many is decomposed, and the others are answered
    through their places in it: a million rows of 50 columns take three minutes of one core and 3 GB. `teach`, `unteach`
    and `relabel` keep all decompositions: a tenth of a second with 20 000 rows.

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
        "class_weight": "no_validation",
        "include": "no_validation",
        "missing_label": "no_validation",
        "random_state": "no_validation",
        "verbose": ["verbose", callable],
        "on_update": [None, callable],
    }
    on_dask = "sample"

    def __init__(
        self,
        methods="auto",
        *,
        combine="average",
        time_budget=240.0,
        abstain=None,
        prior=None,
        class_weight=None,
        include=(),
        missing_label="auto",
        random_state=None,
        verbose=False,
        on_update=None,
    ):
        self.methods = methods
        self.combine = combine
        self.time_budget = time_budget
        self.abstain = abstain
        self.prior = prior
        self.class_weight = class_weight
        self.include = include
        self.missing_label = missing_label
        self.random_state = random_state
        self.verbose = verbose
        self.on_update = on_update

    def fit(self, X, y, drawn=None, sample_weight=None):
        """Fit on all rows; y marks the unlabelled ones (NaN, None, "" or -1; see `missing_label`).

        Parameters
        ----------
        X : (n, d) rows, dense or sparse, or a data frame of any columns (see `mercer.TableEncoder`). Tensors
            are fitted on their device. Of rows in Dask all labelled ones and a sample are fitted.
        y : (n,) class names and marks; with Dask rows also a Dask column, or a dict {row number: label}.
        drawn : (n,) bool, optional
            Which labelled rows were drawn at random among all rows; the others were chosen, by a person or by
            `suggest`. The estimate of the accuracy rests on the former only. None: all of them were drawn.
        sample_weight : (n,), optional
            How much the label of each row counts, also when it is taught later; 0 makes the row unlabelled. Rows
            without a label count alike, and the estimate of the accuracy counts every label once.
        """
        self._validate_params()
        methods = methods_named(self.methods)
        there = home_of(X).computing(X)
        X, y, drawn, self._weight = self._sampled(X, y, drawn, sample_weight)
        X = self._rows(X, reset=True, y=y)
        labels = self._read(y, X.shape[0])
        if labels.weight is not None and "s2rls" in methods:
            raise InputError("The method s2rls takes no weights of labels. Leave it out of methods, or the weights.")
        wanted_shares(self.prior, labels)  # refused before the work
        self.drawn_ = drawn_mask(drawn, X.shape[0])
        with there, steady():
            core = core_of(X.shape[0], methods, self.random_state)
            return self._learn(labels, self._build(X, methods, core, labels))

    @property
    def predictor_(self):
        """The pool as a function of any rows, made when first asked for."""
        if not self._predictor:
            self._predictor.append(Predictor.of(self.fitted_candidates(), self._pool))
        return self._predictor[0]

    @property
    def left_out_probabilities_(self):
        """(l, k) probabilities of the labelled rows that could be tested, each from a fit without its label."""
        return self._probabilities(self.left_out_scores_[self.labels_.testable])

    @by_row
    def decision_function(self, X):
        """Logarithms of the pooled probabilities: (n, k); for two classes (n,), that of the second over the first."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @by_row
    def predict_proba(self, X):
        """Class probabilities, calibrated on left-out labels and never above (l + 1) / (l + 2) for l labels.

        For rows far from all training rows they fall to the class shares `prior_` (see `mercer.few_label.support`).
        """
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        with steady():
            trust = self.support_.trust(rows)[:, None]
            P = self._probabilities(log_scores(self.predictor_.probabilities(rows)))
        return trust * P + (1 - trust) * self.prior_

    @by_row
    def predict_log_proba(self, X):
        """Logarithms of `predict_proba`."""
        return np.log(self.predict_proba(X))

    @by_row
    def predict(self, X):
        """The class of each row; the mark -1 (or "") where the confidence is below `abstain`."""
        P = self.predict_proba(X)
        return self._named(np.argmax(P, axis=1), self.seen_ * P.max(axis=1))

    def score(self, X, y, sample_weight=None):
        """Accuracy over the rows of y that carry a label; a row that was not labelled counts as wrong."""
        check_is_fitted(self)
        X, y, sample_weight = with_labels(X, y, "classes", self.missing_label, sample_weight)
        return labelled_accuracy(y, self.predict(X), self.classes_, self.missing_label, sample_weight)

    def with_prior(self, scores):
        """Scores (n, k') with the class shares that were asked for put in, as they stand behind the probabilities."""
        b = self.offsets_
        return scores + (b[1:] - b[:1] if scores.shape[1] == 1 else b) / self.calibration_[0]

    # Labels in

    def _read(self, y, n_rows):
        return weigh_labels(read_labels(y, self.missing_label, n_rows=n_rows), self._weight, self.class_weight)

    def _read_again(self, y):
        nothing: Any = None
        known = np.flatnonzero(np.not_equal(y, nothing))  # of very many rows a few
        if not len(known):
            return self._read(y, len(y))
        found = read_labels(y[known], missing_label=[])
        codes = np.full(len(y), -1)
        codes[known] = found.codes
        return weigh_labels(
            replace(found, codes=codes, labelled=known[found.labelled]), self._weight, self.class_weight
        )

    def _values(self):
        """(n,) the class names of the labels so far, None where there is none."""
        y = np.full(len(self.drawn_), None, dtype=object)
        if hasattr(self, "labels_"):
            if self.labels_.soft:
                raise InputError("The model was fitted with class probabilities; teaching needs one name per row.")
            y[self.labels_.labelled] = [self.classes_.tolist()[c] for c in self.labels_.codes[self.labels_.labelled]]
        return y

    # Answers out

    def _scores(self, X):
        check_is_fitted(self)
        return log_scores(self.predictor_.probabilities(self._rows(X, reset=False)))

    def _probabilities(self, scores):
        l = self.labels_.counted.sum()
        return capped(probabilities(self.with_prior(scores), *self.calibration_), (l + 1) / (l + 2))

    def _named(self, codes, confidence):
        names, doubtful = self.classes_[codes], confidence < (self.abstain or 0.0)
        if not doubtful.any():
            return names
        if self.classes_.dtype.kind in "US":
            return np.where(doubtful, "", names)
        return np.where(doubtful, np.nan if -1 in self.classes_ else -1, names)
