"""The methods of the few-label models in one table. A further method is one entry here.

Every value is fixed without looking at labels. The order of the entries is the order of the candidates in a space.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..errors import InputError
from ..estimators.classifier import KernelClassifier
from ..estimators.least_squares_kpca import LeastSquaresKPCA
from ..estimators.logistic_kpca import LogisticKPCA
from ..estimators.lssvm import LSSVMClassifier
from ..estimators.rls import RLSClassifier
from ..estimators.s2rls import S2RLSClassifier
from ..estimators.semi_kpca import SemiKPCA
from ..estimators.spectral_graph_transducer import SpectralGraphTransducer
from ..estimators.within_variance import WithinVarianceClassifier
from ..inputs.labels import Labels
from ..types import ColumnLike, Rows
from .candidates.base import Candidate
from .candidates.boosting import BoostingCandidate
from .candidates.forest import NUMBER_TREES, ForestCandidate, MajorityCandidate, NumberForest
from .candidates.linear import LinearCandidate
from .cost import FEW, REPEATED, LabelCost, SearchCost, boosting_seconds, forest_seconds, number_forest_seconds
from .spaces import NoSpace
from .views import AsGiven, ordinal_view

WIDE_AXES = "axes of wide rows"


@dataclass(frozen=True)
class Setting:
    """A model with fixed parameters for one kind of space (see `mercer.few_label.plan`).

    Attributes
    ----------
    kind : str, kind of space. model : the estimator. shown : its parameter in the report, or None.
    most_labels : labels above which "auto" leaves it out. On the development tables and the book's sets, with 100
        labels, `SpectralGraphTransducer` had 0 to 1% of the weight and `LeastSquaresKPCA` 5 to 10%. Without them the
        mean error is the same to 0.1 points, and learning a further label takes less than half the time.
    """

    kind: str
    model: KernelClassifier
    shown: str | None = None
    most_labels: float = np.inf


@dataclass(frozen=True)
class Method:
    """A few-label method.

    Attributes
    ----------
    task : "classes" or "numbers". name : what users type. title, does : its usual name, and a short description.
    settings : candidates in feature spaces. cost : function of (rows, labels, classes), seconds of one candidate.
    build : function of (X, seed, whether "auto" chose it) that gives candidates without a space, or None. With
        `build_seconds`, a function of (labels, classes), `step`, the name of that step of the plan, and `place`, its
        place there.
    dense : whether `build` refuses sparse rows.
    auto : part of "auto". slow : left out of fast fits, because it takes most of the time and seldom has most of the
        weight. whole : needs every row in the core. weights : accepts weights of labels.
    family : candidates that divide one prior weight, for numbers.
    """

    task: str
    name: str
    title: str
    does: str
    settings: tuple[Setting, ...] = ()
    cost: Callable[[int, int, int], float] = FEW
    build: Callable[[Rows, int, bool], list[Candidate]] | None = None
    build_seconds: Callable[[int, int], float] | None = None
    step: str = ""
    place: int = 0
    dense: bool = False
    auto: bool = True
    slow: bool = False
    whole: bool = False
    weights: bool = True
    family: str = ""


def _forests(X: Rows, seed: int, auto: bool) -> list[Candidate]:
    view = AsGiven()
    return [
        ForestCandidate(f"forest: {name}", "forest", view, X, kind, seed, settings=name)
        for kind, name in (("extra", "extremely randomized trees"), ("random", "random forest"))
    ]


def _boosting(X: Rows, seed: int, auto: bool) -> list[Candidate]:
    view = ordinal_view(X)
    rows = view.fit(X)
    if auto and rows.shape[1] > 200:  # pixels, spectra or words, of which no single column is decisive
        return []
    settings = "shallow trees, every column"
    return [BoostingCandidate(f"boosting: {settings}", "boosting", view, rows, seed, settings=settings)]


def _majority(X: Rows, seed: int, auto: bool) -> list[Candidate]:
    settings = "class frequencies, no column"
    return [MajorityCandidate(f"majority: {settings}", "majority", AsGiven(), X, settings=settings)]


def _number_forest(X: Rows, seed: int, auto: bool) -> list[Candidate]:
    return [NumberForest(f"forest of {NUMBER_TREES} trees", "forest", AsGiven(), X, "extra", seed)]


def _mean(X: Rows, seed: int, auto: bool) -> list[Candidate]:
    return [LinearCandidate("mean of the numbers", "mean", NoSpace(X.shape[0]), LSSVMClassifier(1.0))]


def _ridge(*kinds: str) -> tuple[Setting, ...]:
    """Ridge regression with a constant that is not penalized, which `LSSVMClassifier` solves for any targets."""
    return tuple(Setting(kind, LSSVMClassifier(gamma), "gamma") for kind in kinds for gamma in (1.0, 10.0, 100.0))


_classes, _numbers = partial(Method, "classes"), partial(Method, "numbers")
CATALOG: tuple[Method, ...] = (
    _classes(
        "lssvm",
        "Least-squares SVM",
        "learns from the labeled rows only, with an RBF or linear kernel",
        (
            Setting("kernel", LSSVMClassifier(10.0), "gamma"),
            Setting("kernel", LSSVMClassifier(100.0), "gamma"),
            Setting("narrow kernel", LSSVMClassifier(10.0), "gamma"),
            Setting("narrow kernel", LSSVMClassifier(100.0), "gamma"),
        ),
    ),
    _classes(
        "rls",
        "Regularized least squares",
        "learns from the labeled rows only (kernel ridge regression)",
        (Setting("kernel", RLSClassifier(0.01), "lam"), Setting("narrow kernel", RLSClassifier(0.01), "lam")),
        auto=False,
    ),
    _classes(
        "components",
        "Least-squares SVM on components",
        "sees only the leading kernel principal components",
        (Setting("components", LSSVMClassifier(10.0), "gamma"),),  # the first few principal axes
    ),
    _classes(
        "ls_kpca",
        "Least-squares kernel PCA",
        "fits the labels, with the variance over all rows fixed",
        (
            Setting("axes", LeastSquaresKPCA(1.0), "label_weight", 75),
            Setting(WIDE_AXES, LeastSquaresKPCA(0.1), "label_weight", 75),
            Setting(WIDE_AXES, LeastSquaresKPCA(10.0), "label_weight", 75),
        ),
        REPEATED,
        slow=True,
    ),
    _classes(
        "lr_kpca",
        "Logistic kernel PCA",
        "as least-squares kernel PCA, with logistic loss",
        (Setting("axes", LogisticKPCA(), "label_weight"),),
        REPEATED,
        auto=False,
    ),
    _classes(
        "mv_kpca",
        "Minimum-variance kernel PCA",
        "ten components that vary little within a class, then an SVM",
        (Setting("axes", WithinVarianceClassifier()),),
        REPEATED,
        auto=False,
    ),
    _classes(
        "s2rls",
        "Semi-supervised least squares",
        "searches labels for all rows whose boundary avoids dense regions",
        (Setting("axes", S2RLSClassifier(n_restarts=10, balance="labels"), "lam"),),
        SearchCost(3e-4),
        auto=False,
        whole=True,
        weights=False,
    ),
    _classes(
        "semi_kpca",
        "Semi-supervised kernel PCA",
        "kernel PCA of all rows, pulled by the labels",
        (Setting("several axes", SemiKPCA(1)),),  # two or more, because it removes the first
    ),
    _classes(
        "mixed",
        "Least-squares SVM on both",
        "the mean of an RBF kernel and of the graph's heat kernel",
        (Setting("joined", LSSVMClassifier(10.0), "gamma"),),
    ),
    _classes(
        "diffusion",
        "Least-squares SVM on a graph",
        "labels spread from row to neighboring row (heat kernel)",
        (
            Setting("heat 30", LSSVMClassifier(3.0, bias=False), "gamma"),
            Setting("heat 10", LSSVMClassifier(10.0), "gamma"),
            Setting("heat 100", LSSVMClassifier(3.0, bias=False), "gamma"),
        ),
    ),
    _classes(
        "sgt",
        "Spectral graph transducer",
        "the smoothest balanced function on the graph that agrees with the labels",
        (
            Setting("spectrum", LSSVMClassifier(10.0), "gamma"),
            Setting("spectrum", SpectralGraphTransducer(label_weight=3200.0, balance="labels"), None, 50),
        ),
        REPEATED,
        slow=True,
    ),
    _classes(
        "forest",
        "Forests",
        "extremely randomized trees and a random forest on the labeled rows",
        build=_forests,
        build_seconds=forest_seconds,
        step="forests",
        place=3,
        dense=True,
        slow=True,
    ),
    _classes(
        "boosting",
        "Boosted trees",
        "shallow trees that try every column, each fitted to the errors of those before it",
        build=_boosting,
        build_seconds=boosting_seconds,
        step="boosted trees",
        place=3,
        dense=True,
    ),
    _classes(
        "majority",
        "Majority",
        "the most frequent class, if the columns do not predict the classes",
        build=_majority,
        build_seconds=LabelCost(1e-3, 0.0),
        step="class frequencies",
        place=5,
        dense=True,
    ),
    _numbers(
        "lssvm",
        "Least-squares SVM",
        "ridge regression with an RBF or linear kernel",
        _ridge("kernel"),
        family="kernel",
    ),
    _numbers(
        "components",
        "Least-squares SVM on components",
        "sees only the leading kernel principal components",
        _ridge("components"),
        family="kernel",
    ),
    _numbers("additive", "Sum of curves", "one bent line for each column", _ridge("additive"), family="curves"),
    _numbers(
        "mixed",
        "Least-squares SVM on both",
        "the mean of an RBF kernel and of the graph's heat kernel",
        _ridge("joined"),
        family="graph",
    ),
    _numbers(
        "diffusion",
        "Least-squares SVM on a graph",
        "numbers spread from row to neighboring row (heat kernel)",
        _ridge("heat 30", "heat 100"),
        family="graph",
    ),
    _numbers(
        "sgt",
        "Smooth functions on the graph",
        "a few smooth functions on the neighbor graph",
        _ridge("spectrum"),
        REPEATED,
        family="graph",
    ),
    _numbers(
        "forest",
        "Extremely randomized trees",
        "mean of 200 trees, each grown on four fifths of the numbers",
        build=_number_forest,
        build_seconds=number_forest_seconds,
        step="forest",
        dense=True,
        family="forest",
    ),
    _numbers(
        "mean",
        "Mean",
        "the mean of the numbers, if the columns do not predict them",
        build=_mean,
        build_seconds=LabelCost(0.0, 0.0),
        step="mean",
        family="mean",
    ),
)


def methods_of(task: str) -> dict[str, Method]:
    """Methods of a task, "classes" or "numbers", by name."""
    return {method.name: method for method in CATALOG if method.task == task}


def refuse_weights(methods: tuple[Method, ...], labels: Labels) -> None:
    """Refuse weights of labels if a method does not accept them."""
    refused = [one.name for one in methods if not one.weights]
    if refused and labels.weight is not None:
        raise InputError(
            f"The method {refused[0]} does not accept weights of labels. Leave it out of methods, or the weights."
        )


def methods_named(task: str, names: ColumnLike) -> tuple[Method, ...]:
    """The methods of the parameter `methods`, which is "auto", "all", a name or a list of names."""
    known = methods_of(task)
    if isinstance(names, str) and names in ("auto", "all"):
        return tuple(method for method in known.values() if method.auto or names == "all")
    found = (names,) if isinstance(names, str) else tuple(names)
    if not found or any(name not in known for name in found):
        accepted = "'auto', 'all'" if task == "classes" else "'auto'"
        raise InputError(f"methods={names!r} is not accepted. Give {accepted} or a list of {', '.join(known)}.")
    return tuple(method for method in known.values() if method.name in found)


def settings_of(methods: tuple[Method, ...]) -> Iterator[tuple[Method, Setting]]:
    """Pairs of a method and each of its settings, in order."""
    return ((method, setting) for method in methods for setting in method.settings)
