"""Seconds that a feature space and the methods in it take, estimated from the sizes alone.

A time budget is an amount of work, so that the same seed gives the same predictions on a busy machine. The seconds are
those of one core of the 2020s. They were fitted once to measured times at 300 to 20,000 rows, and are correct within a
factor of about two. With n rows, d columns, r = min(n, d), l labels and k classes:

=================  ======================================  ============================
space              exact, up to 2,500 rows                 sparse graph or landmarks
=================  ======================================  ============================
neighbor graph     2.3e-10 n³, up to 1,250 rows            1.4e-4 n + 1e-10 n² d
RBF kernel         3e-10 n³                                1.15e-4 n
narrow, city-block 5e-11 n³                                5e-5 n
linear kernel      6e-10 n r²                              6e-10 n min(r, 600)²
additive model     the same with 5 d columns
=================  ======================================  ============================

Each takes another 0.02 seconds. A method takes 1e-4 l k (those that repeat a small problem for every label) or
2e-5 l k, and the search over labels of s2rls 3e-4 n k.
"""

from dataclasses import dataclass

from ..geometry.open import POLICIES

GRAPH_EXACT = 1250  # rows up to which all eigenvectors of a graph are taken


def build_seconds(kind: str, n: int, d: int) -> float:
    """Seconds to build a space of a kind: "graph", "rbf", "narrow", "city_block", "linear" or "additive"."""
    policy = POLICIES["few labels"]
    exact = n <= policy.exact_rows
    rank = min(n, d) if exact else min(n, d, policy.landmarks)
    curves = 5 * d  # columns of an additive model
    return (
        0.02
        + {
            "graph": 2.3e-10 * n**3 if n <= GRAPH_EXACT else 1.4e-4 * n + 1e-10 * n**2 * d,
            "rbf": 3e-10 * n**3 if exact else 1.15e-4 * n,
            "narrow": 5e-11 * n**3 if exact else 5e-5 * n,
            "city_block": 5e-11 * n**3 + 1e-9 * n**2 * d if exact else 5e-5 * n,
            "linear": 6e-10 * n * rank**2,
            "additive": 6e-10 * n * min(n, curves, n if exact else policy.landmarks) ** 2,
        }[kind]
    )


@dataclass(frozen=True)
class SolveCost:
    """Seconds to fit one candidate, held-out predictions included. `each` is for a label and a class."""

    each: float

    def __call__(self, n: int, l: int, k: int) -> float:
        return self.each * l * k


@dataclass(frozen=True)
class SearchCost:
    """Seconds of a search over the labels of all rows. `each` is for a row and a class."""

    each: float

    def __call__(self, n: int, l: int, k: int) -> float:
        return self.each * n * k


@dataclass(frozen=True)
class LabelCost:
    """Seconds to build and fit candidates without a space.

    Attributes
    ----------
    constant : for all labels together. each : for a label. each_class : for a label and a class.
    """

    constant: float
    each: float
    each_class: float = 0.0

    def __call__(self, l: int, k: int) -> float:
        return self.constant + self.each * l + self.each_class * l * k


FEW, REPEATED = SolveCost(2e-5), SolveCost(1e-4)  # the latter repeats a small problem for every label
forest_seconds = LabelCost(0.03, 2e-4)  # two forests of a hundred trees
boosting_seconds = LabelCost(0.02, 5e-5, 5e-6)  # boosted trees that try every column
number_forest_seconds = LabelCost(0.3, 8e-4)  # two hundred trees on four fifths of the numbers


def affordable(costs: list[float], budget: float, always: int = 3) -> list[bool]:
    """Which costs fit into the budget, the first ones first. The first `always` are taken in any case.

    >>> affordable([1.0, 1.0, 1.0, 5.0, 1.0], 4.5)
    [True, True, True, False, True]
    """
    spent, taken = 0.0, []
    for place, cost in enumerate(costs):
        taken.append(place < always or spent + cost <= budget)
        spent += cost if taken[-1] else 0.0
    return taken
