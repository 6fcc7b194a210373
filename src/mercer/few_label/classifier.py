"""FewLabelClassifier predicts all labels from a few, and weighs several methods for it."""

from collections.abc import Callable, Sequence
from numbers import Real
from typing import ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..backend import single_threaded_blas
from ..events import OnEvent
from ..evidence.accuracy import Estimate, Majority
from ..homes import home_of
from ..inputs.labels import Labels, labeled_accuracy, read_filled, read_labels, weigh_labels
from ..inputs.sampling import with_labels
from ..inputs.weights import seed_of
from ..kernels.base import KernelLike
from ..rows import by_row
from ..types import ColumnLike, Facts, Rows, Seed, Verbose
from . import sizes
from ._model import FewLabelModel
from .answers import Answers
from .candidates.base import rehearse
from .catalog import methods_named, refuse_weights
from .dask_sample import rows_to_fit
from .fit import Fit
from .given import read_given
from .hint_inputs import Hints, hinted
from .library import Library
from .rows import drawn_mask, learn_rows
from .summary import Report
from .tasks.classes import Classes, Prior, read_prior


class FewLabelClassifier(ClassifierMixin, FewLabelModel):  # type: ignore[misc]  # scikit-learn has no types
    """Classify all rows from a few labeled ones, without choosing a method or a parameter.

    Start here if there are few labels. Several methods are fitted, and their calibrated probabilities are averaged:

    .. math:: P = \\sum_m w_m P_m, \\qquad w_m \\propto \\pi_m \\exp\\Bigl(-t \\sum_{i \\in L} \\ell_{mi}\\Bigr)

    Candidate m has the probabilities Pₘ and the prior weight πₘ. ℓₘᵢ is its log loss on label i when that label is
    held out, and t = min(1, 5/k) / (1 + l/50) for l labels of k classes. A uniform-random candidate with prior 1/5 is
    included, which shrinks the probabilities if labels look random. The other candidates are LS-SVMs, Semi-KPCA,
    LS-KPCA and graph methods on several views of the rows, two forests and boosted trees, all with parameters fixed
    beforehand. If the labels cannot distinguish candidates, these are averaged. With more labels, the best ones get
    most of the weight. If held-out labels are predicted no better than by the class frequencies, every row is predicted
    to be of the most frequent class.

    Parameters
    ----------
    methods : "auto", "all" or list of names, default="auto"
        Methods that may take part, by their names in ``mercer methods``. "all" adds the slower ones.
    also : list of scikit-learn classifiers, default=()
        Your own models in the pool, such as ``[TabPFNClassifier()]``: anything with `predict_proba`. Each is fitted to
        the labeled rows, and once more without each of five folds of them, whose predictions determine its weight. They
        see the rows as numbers, as `encoder_` makes them.
    combine : {"average", "pick"}, default="average"
        "pick" keeps one candidate. That is the first, a label-free default, unless another is better by more than the
        noise.
    time_budget : float or None, default=60
        Seconds of work on one core. Feature spaces beyond it are not built. The most useful ones come first, and three
        are always built. The work is estimated from the sizes and not measured, so the predictions do not depend on
        the machine. None sets no limit. Ctrl-C during the search ends it, and what was tried so far is used.
    abstain : float or None, default=None
        Rows whose confidence is below this are not labeled. `predict` and `transduction_` give them the marker -1 (""
        if class names are text, NaN if -1 is a class).
    prior : None, "labels", "estimate", dict or list of fractions, default=None
        Class frequencies among all rows. With None, scores are not adjusted. "labels" takes those among the labels,
        which is correct if the labeled rows were drawn at random. "estimate" estimates them from the scores. Or the
        frequencies themselves, by class.
    class_weight : None, "balanced" or dict, default=None
        Weight of a label, by class. A class that the dict does not name has 1. "balanced" gives all classes the same
        total, so that the predictions favor rare classes more. To state how frequent classes are, use `prior`.
    include : list of str, default=()
        Columns of a data frame to use although they distinguish labeled rows from the others.
    text_model, image_model : str or callable, default="auto"
        Models whose vectors are used for columns of text and of images in a data frame, next to features of mercer's
        own. "auto" uses those that are installed as extras, "none" uses none. `TableEncoder` lists other values.
    random_state : seed of landmarks and components. None is 0.
    verbose : bool or callable, default=False
        True prints progress. A function is called with (stage, fraction). The stage is a description of what begins
        now, and the fraction is the part of the search that is done. Raising KeyboardInterrupt in it ends the search
        like Ctrl-C.
    on_update : function or None, default=None
        Called during `fit` with a model of the candidates so far, which predicts already. It is called after the first
        feature space, and each time that the work done has doubled. The fitted model is the same with and without it.

    Attributes
    ----------
    transduction_ : (n,) given labels, and predicted ones for the other rows.
    probabilities_ : (n, k) class probabilities of the training rows.
    confidence_ : (n,) probability that the prediction is correct, 1 for given labels. It is the probability of
        the predicted class, times the Good–Turing estimate of the fraction of rows whose class has a label.
    abstained_ : (n,) rows that were left unlabeled because of low confidence.
    report_ : summary of the candidates, for ``print(model.report_)``. All of them are in ``report_.table``.
    estimate_ : `mercer.evidence.accuracy.Estimate` with the accuracy and its 95% interval, recall and precision of each
        class, and the fraction of rows in classes without a label. Labels are held out in folds, and candidates, slopes
        and weights are fitted again without them. Computed on first use.
    left_out_accuracy_, accuracy_interval_ : accuracy and interval of `estimate_`.
    classes_, prior_ : (k,) class names. (k,) class frequencies among the labels, or those requested or estimated.
    weights_ : (m,) weights of the candidates in `candidates_`.
    sample_, stability_ : in Dask, the rows that were fitted, and the fraction of predictions that a fit to another
        sample has in common.
    hints_ : `mercer.few_label.hint_inputs.Hints`, or None without hints.
    linear_ : number of the heaviest candidate whose scores are linear in the labels, or None. The effect of one more
        label is known for it.

    Notes
    -----
    With 1,500 rows the cost is about ten decompositions, which take about 2 s on one core. Above 5,000 rows, landmarks
    and sparse graphs on the leading components are used. Above 50,000 rows a random sample of so many is decomposed,
    and the others are predicted through their places in it. A million rows of 50 columns take three minutes of one core
    and 3 GB. `teach`, `unteach` and `relabel` keep all decompositions, and take a tenth of a second with 20,000 rows.
    These sizes are in `mercer.few_label.sizes.Sizes`.

    If there are more than 2,000,000 labels times classes, such as 200,000 labels of 10 classes, a random sample of the
    labels with every class in it is fitted. `fit` then reports a `mercer.events.Note`. All given labels stay in
    `transduction_`.

    `predict` on an unlabeled training row gives its `transduction_`, to rounding. There are two exceptions. If several
    training rows are equal, graph methods may score each a little differently, and `predict`, which cannot know which
    one is meant, gives their mean. For a row with a given label `predict` gives the prediction of the model.

    Examples
    --------
    >>> from mercer import FewLabelClassifier
    >>> X = [[0.0], [0.1], [0.2], [0.3], [1.0], [1.1], [1.2], [1.3]]
    >>> y = ["low", None, None, "low", "high", None, None, "high"]
    >>> FewLabelClassifier().fit(X, y).transduction_.tolist()
    ['low', 'low', 'low', 'low', 'high', 'high', 'high', 'high']
    """

    _parameter_constraints: ClassVar[Facts] = {
        "combine": [StrOptions({"average", "pick"})],
        "time_budget": [None, Interval(Real, 0, None, closed="neither")],
        "abstain": [None, Interval(Real, 0, 1, closed="both")],
        **dict.fromkeys(("methods", "also", "prior", "class_weight", "include"), "no_validation"),
        **dict.fromkeys(("text_model", "image_model", "missing_label", "random_state"), "no_validation"),
        "verbose": ["verbose", callable],
        "on_update": [None, callable],
    }
    on_dask = "sample"
    task = "classes"
    _report_type = Report
    answers_: Answers
    hints_: Hints | None

    def __init__(
        self,
        methods: str | Sequence[str] = "auto",
        *,
        also: ColumnLike = (),
        combine: str = "average",
        time_budget: float | None = sizes.SIZES.seconds,
        abstain: float | None = None,
        prior: Prior = None,
        class_weight: ColumnLike = None,
        include: ColumnLike = (),
        text_model: object = "auto",
        image_model: object = "auto",
        missing_label: object = "auto",
        random_state: Seed = None,
        verbose: Verbose = False,
        on_update: Callable[[Self], object] | None = None,
    ) -> None:
        self.methods = methods
        self.also = also
        self.combine = combine
        self.time_budget = time_budget
        self.abstain = abstain
        self.prior = prior
        self.class_weight = class_weight
        self.include = include
        self.text_model = text_model
        self.image_model = image_model
        self.missing_label = missing_label
        self.random_state = random_state
        self.verbose = verbose
        self.on_update = on_update

    def fit(
        self,
        X: Rows,
        y: ColumnLike,
        drawn: ColumnLike = None,
        sample_weight: ColumnLike = None,
        on_event: OnEvent | None = None,
        hints: ColumnLike = None,
        graph: Rows = None,
        kernel: KernelLike | Rows = None,
    ) -> Self:
        """Fit on all rows, labeled or not. In y, NaN, None, "" and -1 mean that a row has no label.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or data frame
            Rows, dense or sparse, or a data frame of any columns. With a `kernel` they may be a list of objects or an
            (n, n) matrix. Tensors are fitted on their device. Of rows in Dask all labeled ones and a sample are fitted.
        y : array-like of shape (n_samples,)
            Class names, with markers for rows without a label. With Dask rows also a Dask column, or a dict of the
            labels by row number.
        drawn : (n,) bool, optional
            Which labeled rows were drawn at random. The others were chosen, by a person or by `suggest`. The accuracy
            is estimated from the random ones only. None means that all were drawn at random.
        sample_weight : (n,), optional
            Weight of the label of each row, also if it is taught later. 0 makes the row unlabeled. Rows without a
            label have equal weight, and the accuracy estimate counts every label once.
        on_event : function of an event of `mercer.events`, optional
            Called instead of what `verbose` requests.
        hints : column, dict or data frame of columns, or names of columns of X, optional
            Guesses of the class by other sources, such as a language model, rules or an old system. A row without one
            has None, NaN, "" or -1. A guess is never used as a label. How often each source is correct is learned from
            the labels. Columns of X that are named here are not features.
        graph : (n, n) matrix or list of edges, optional
            Links between the rows, such as links between web pages, in addition to their columns. Accepted are a
            symmetric matrix of weights, sparse or dense, and edges (row, row) or (row, row, weight).
        kernel : (n, n) matrix, kernel object, function of two rows or "precomputed", optional
            A matrix contains similarities of all pairs of rows, such as ``Spectrum(3)(names)``, in addition to their
            columns. A new row has no links and no similarities, and is predicted from its columns. A kernel object or a
            function compares the rows themselves, such as strings, sets or other objects. With "precomputed" X is the
            (n, n) matrix of similarities, and new rows are (m, n) similarities to the rows of the fit.
        """
        self._validate_params()
        methods, there = methods_named("classes", self.methods), home_of(X).computing(X)
        got = rows_to_fit(X, y, drawn, sample_weight, self.missing_label, seed_of(self.random_state))
        self.weight_, self.dask_ = got.weight, got.dask
        own, self.hints_ = Hints.read(got.X, hints, self.missing_label, got.sample)
        note = on_event or self._on_event
        rows, self.encoder_, labels = learn_rows(self, own, lambda n: self._read(got.y, n), note, kernel)
        refuse_weights(methods, labels)
        read_prior(self.prior, labels)  # refused before the work
        given = read_given(graph, kernel, rows.shape[0], got.sample is not None)
        with there, single_threaded_blas():
            mask = drawn_mask(got.drawn, rows.shape[0])
            self._learn(rows, methods, labels, mask, on_event=on_event, on_update=self.on_update, given=given)
        return self

    def prepare(
        self,
        X: Rows,
        core: ColumnLike = None,
        on_event: OnEvent | None = None,
        hints: ColumnLike = None,
        graph: Rows = None,
        kernel: KernelLike | Rows = None,
    ) -> Self:
        """Do everything that needs no label. The model can then be `taught`, and cannot predict yet.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or data frame
            Rows, as `fit` takes them.
        core : array-like of int or None, default=None
            Numbers of the rows that are decomposed. None is all of them up to 50,000 rows, and a sample of that size
            above. The other rows are predicted from their neighbors among these.
        on_event : callable or None, default=None
            Called with events, such as progress, instead of what `verbose` requests.
        hints : column, dict or data frame of columns, or names of columns of X, default=None
            Guesses of the class by other sources, as `fit` takes them.
        graph : (n, n) matrix or list of edges, default=None
            Links between the rows, as `fit` takes them. They need all rows in the core.
        kernel : (n, n) matrix, kernel object, function of two rows or "precomputed", default=None
            Similarities of the rows, as `fit` takes them. They need all rows in the core.

        Examples
        --------
        >>> from mercer import FewLabelClassifier
        >>> X = [[0.0], [0.1], [0.2], [0.3], [1.0], [1.1], [1.2], [1.3]]
        >>> model = FewLabelClassifier().prepare(X)
        >>> model.taught([0, 4], ["low", "high"]).transduction_.tolist()
        ['low', 'low', 'low', 'low', 'high', 'high', 'high', 'high']
        """
        self._validate_params()
        methods, there = methods_named("classes", self.methods), home_of(X).computing(X)
        X, self.hints_ = Hints.read(X, hints, self.missing_label)
        rows, self.encoder_, _ = learn_rows(self, X, lambda n: None, kernel=kernel)
        n, self.weight_, self.dask_ = rows.shape[0], None, None
        self.__dict__.pop("answers_", None)
        core = None if core is None else self._numbers(core, n)
        given = read_given(graph, kernel, n, core=core)
        with there, single_threaded_blas():
            self._learn(rows, methods, None, None, core=core, on_event=on_event, given=given)
            rehearse(self.library_.candidates, n)
        return self

    # Predictions

    @by_row
    def decision_function(self, X: Rows, hints: ColumnLike = None) -> np.ndarray:
        """(n, k) logarithms of the pooled probabilities. For two classes (n,), that of the second over the first."""
        check_is_fitted(self)
        scores = self.answers_.scores_of(*self._rows_and_hints(X, hints))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @by_row
    def predict_proba(self, X: Rows, hints: ColumnLike = None) -> np.ndarray:
        """Class probabilities, calibrated on held-out labels and never above (l + 1) / (l + 2) for l labels.

        For rows far from all training rows they fall to the class frequencies `prior_` (see
        `mercer.few_label.rows.Support`).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or data frame
            Rows, with the columns of the rows in `fit`.
        hints : column, dict or data frame of columns, default=None
            Guesses of the class for these rows. Hints that were columns of X in `fit` are looked for in X. Without
            hints the model predicts from the rows alone.
        """
        check_is_fitted(self)
        return self.answers_.probabilities_of(*self._rows_and_hints(X, hints))

    @by_row
    def predict_log_proba(self, X: Rows, hints: ColumnLike = None) -> np.ndarray:
        """Logarithms of `predict_proba`."""
        return np.asarray(np.log(self.predict_proba(X, hints)))

    @by_row
    def predict(self, X: Rows, hints: ColumnLike = None) -> np.ndarray:
        """The class of each row, or the marker -1 (or "") if its confidence is below `abstain`."""
        P, answers = self.predict_proba(X, hints), self.answers_
        return answers.named(answers.code_of(P), answers.confidence_of(P), self.abstain)

    def confidence_of(self, P: np.ndarray) -> np.ndarray:
        """(n,) probability that the prediction is correct, for rows whose `predict_proba` is P (n, k)."""
        check_is_fitted(self)
        return self.answers_.confidence_of(P)

    def predict_set(
        self, X: Rows, coverage: float = 0.9, by_class: bool = False, hints: ColumnLike = None
    ) -> np.ndarray:
        """(n, k) bool, the classes in the set of each row, which contains the true one with probability `coverage`.

        These are conformal sets from the predictions of `estimate_` for held-out folds of labels (see
        `mercer.evidence.sets`). A set may be empty or contain all classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or data frame
            Rows, with the columns of the rows in `fit`.
        coverage : float, default=0.9
            Fraction of rows whose set contains their class, among rows like the labeled ones.
        by_class : bool, default=False
            Reach the coverage in every class. Sets of rare classes grow.
        hints : column, dict or data frame of columns, default=None
            Guesses of the class for these rows, as `predict_proba` takes them.
        """
        return self.sets_of(self.predict_proba(X, hints), coverage, by_class)

    def training_sets(self, coverage: float = 0.9, by_class: bool = False) -> np.ndarray:
        """`predict_set` of the training rows."""
        check_is_fitted(self)
        return self.sets_of(self.probabilities_, coverage, by_class)

    def sets_of(self, P: np.ndarray, coverage: float = 0.9, by_class: bool = False) -> np.ndarray:
        """`predict_set` of rows whose probabilities (n, k) are known."""
        return self.answers_.sets(P, coverage, by_class)

    def score(self, X: Rows, y: ColumnLike, sample_weight: ColumnLike = None, hints: ColumnLike = None) -> float:
        """Accuracy over the rows of y that have a label. A row that the model leaves unlabeled counts as wrong."""
        check_is_fitted(self)
        X, y, sample_weight = with_labels(X, y, "classes", self.missing_label, sample_weight)
        return labeled_accuracy(y, self.predict(X, hints), self.classes_, self.missing_label, sample_weight)

    def _rows_and_hints(self, X: Rows, hints: ColumnLike) -> tuple[Rows, np.ndarray | None]:
        """(checked rows, numbers of their hints or None)."""
        X, codes = hinted(self.hints_, X, hints)
        return self._rows(X), codes

    # Labels in

    def _read(self, y: ColumnLike, n_rows: int) -> Labels:
        return self._weighed(read_labels(y, self.missing_label, n_rows))

    def _read_values(self, y: np.ndarray) -> Labels:
        return self._weighed(read_filled(y, self.missing_label))

    def _weighed(self, labels: Labels) -> Labels:
        """The labels with their weights, and with the classes that only hints name, unless `prior` has fractions."""
        labels = weigh_labels(labels, self.weight_, self.class_weight)
        if self.hints_ is None or not (self.prior is None or isinstance(self.prior, str)):
            return labels
        return self.hints_.widened(labels)

    def _values(self) -> np.ndarray:
        if hasattr(self, "answers_"):
            return self.answers_.given_names()
        return np.full(self.library_.n_rows, None, dtype=object)

    def _task(self, labels: Labels, library: Library) -> tuple[Classes, Labels]:
        guesses = None if self.hints_ is None else self.hints_.guesses(labels.classes)
        task = Classes(self.combine, read_prior(self.prior, labels), seed_of(self.random_state), guesses)
        return task, task.labels_to_fit(labels)

    def _answers(self, fit: Fit, labels: Labels) -> Answers:
        return Answers(fit, labels.classes, labels.codes)

    # Attributes

    @property
    def classes_(self) -> np.ndarray:
        """(k,) class names."""
        return self.answers_.names

    @property
    def transduction_(self) -> np.ndarray:
        """(n,) given labels, and predicted ones for the other rows."""
        return self.answers_.transduction(self.abstain)

    @property
    def probabilities_(self) -> np.ndarray:
        """(n, k) class probabilities of the training rows."""
        return self.answers_.probabilities

    @property
    def predicted_(self) -> np.ndarray:
        """(n,) number of the most likely class of each training row."""
        return self.answers_.codes

    @property
    def confidence_(self) -> np.ndarray:
        """(n,) probability that the prediction is correct, 1 for given labels."""
        return self.answers_.confidence

    @property
    def abstained_(self) -> np.ndarray:
        """(n,) rows that were not labeled because of low confidence."""
        return np.asarray(self.answers_.abstained(self.confidence_, self.abstain))

    @property
    def scores_(self) -> np.ndarray:
        """(n, k') pooled scores of the training rows."""
        return self.answers_.fit.scores

    @property
    def votes_(self) -> np.ndarray:
        """(n, k) weight of the candidates for which each class is the best. Computed on first use."""
        return self.answers_.fit.votes

    @property
    def left_out_scores_(self) -> np.ndarray:
        """(l, k') scores of the labeled rows by fits without their labels."""
        return self.answers_.left_out_scores

    @property
    def left_out_probabilities_(self) -> np.ndarray:
        """(l', k) probabilities of the labeled rows that could be tested, each from a fit without its label."""
        return self.answers_.left_out_probabilities

    @property
    def calibration_(self) -> tuple[float, float]:
        """Power of the pooled probabilities, and 0."""
        return self.answers_.calibration.power, 0.0

    @property
    def prior_(self) -> np.ndarray:
        """(k,) class frequencies among the labels, or those requested or estimated."""
        return self.answers_.calibration.prior

    @property
    def offsets_(self) -> np.ndarray:
        """(k,) terms that the class frequencies add to the logarithms of the probabilities."""
        return self.answers_.calibration.offsets

    @property
    def estimate_(self) -> Estimate:
        """`Estimate` of the accuracy from held-out labels, computed when it is first read (about a second)."""
        check_is_fitted(self)
        return self.answers_.estimate

    @property
    def left_out_accuracy_(self) -> float:
        """Estimated fraction of correct predictions."""
        return self.estimate_.accuracy.value

    @property
    def accuracy_interval_(self) -> tuple[float, float]:
        """Its 95% interval."""
        return self.estimate_.accuracy.low, self.estimate_.accuracy.high

    @property
    def majority_(self) -> Majority:
        """The most frequent class among the labels, and how often always predicting it would be correct."""
        return Majority.of(self.classes_, self.labels_.counts())

    @property
    def stability_(self) -> float | None:
        """Fraction of rows to which a fit to another sample of rows in Dask gives the same class.

        It is None if all rows were fitted. It is computed on first use.
        """
        if self.dask_ is None:
            return None
        self.dask_ = self.dask_.judged(self, None if self.hints_ is None else self.hints_.columns)
        return self.dask_.stability
