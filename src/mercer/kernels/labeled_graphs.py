"""The Weisfeiler-Lehman kernel on objects that are graphs, one per row. It counts common neighborhoods of nodes."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..types import Rows
from .counts import CountKernel, Counts, Keys, keys_of, mixed, whole


class WeisfeilerLehman(CountKernel):
    """Number of common neighborhoods of nodes, k(x, y) = Σ_{i ≤ h} Σ_c #c(x) · #c(y) over the colors c of step i.

    The color of a node in step 0 is its label, and in step i + 1 its color together with those of its neighbors. For
    molecules, syntax trees, call graphs and other graphs whose nodes have labels.

    A row is a pair (labels, edges), or a dict with the entries "labels" and "edges". Labels are a list with one entry
    per node (text, numbers, bytes, None or tuples), or a number of nodes without labels. Edges are pairs of node
    numbers, from 0, without direction. An edge that is given twice counts once.

    Parameters
    ----------
    h : int, default=3
        Number of steps. 0 counts labels only. Common values are 2 to 5.
    normalize : bool, default=True
        Divide by √(k(x, x) k(y, y)), so that large graphs are not more similar to everything.

    Notes
    -----
    The colors of all graphs together take O(h · edges) operations. Graphs without a common color in any step have
    k = 0. If no number of steps can distinguish two graphs (regular graphs of equal size, degree and label, for
    example), they have k = 1.

    References
    ----------
    Shervashidze, Schweitzer, van Leeuwen, Mehlhorn, Borgwardt (2011), Weisfeiler-Lehman graph kernels.

    Examples
    --------
    >>> water = ["H", "O", "H"], [(0, 1), (1, 2)]
    >>> peroxide = ["H", "O", "O", "H"], [(0, 1), (1, 2), (2, 3)]
    >>> WeisfeilerLehman(1, normalize=False)([water, peroxide])  # labels, and "H next to O" 2 · 2 times
    array([[10., 10.],
           [10., 16.]])
    """

    names = ("weisfeiler_lehman",)

    def __init__(self, h: int = 3, normalize: bool = True):
        self.h = h
        self.normalize = normalize

    def check(self) -> None:
        whole(self, "h", 0)

    def count(self, cells: np.ndarray) -> Counts:
        graphs = [_labels_and_edges(graph, i) for i, graph in enumerate(cells.tolist())]
        sizes = np.array([len(labels) for labels, _ in graphs], dtype=np.int64)
        first = np.cumsum(sizes) - sizes
        owner = np.repeat(np.arange(len(graphs)), sizes)
        edges = np.concatenate([np.zeros((0, 2), dtype=np.int64), *(e + start for (_, e), start in zip(graphs, first))])
        ends = np.unique(np.concatenate([edges, edges[:, ::-1]]), axis=0)  # both directions, each once
        color = mixed(keys_of([label for labels, _ in graphs for label in labels], "The labels of a graph"))
        found = [color]
        for step in range(1, self.h + 1):
            color = _refined(color, ends, step)
            found.append(color)
        return Counts.of(np.tile(owner, self.h + 1), np.concatenate(found), None, len(graphs))


def _refined(color: Keys, ends: NDArray[np.int64], step: int) -> Keys:
    """The next color of every node, from its color and the sum of the mixed colors of its neighbors."""
    around = np.zeros(len(color), dtype=np.uint64)
    np.add.at(around, ends[:, 0], mixed(color + np.uint64(1))[ends[:, 1]])
    # Mixed once more, so that the color of a node and that of a single neighbor cannot cancel each other out.
    return mixed(mixed(color + np.uint64(2 * step)) + mixed(around + np.uint64(3)))


def _labels_and_edges(graph: Rows, i: int) -> tuple[list, NDArray[np.int64]]:
    """Check a row and return its labels and an array of edges with two columns."""
    if isinstance(graph, Mapping) and {"labels", "edges"} <= set(graph):
        graph = graph["labels"], graph["edges"]
    if not isinstance(graph, tuple | list) or len(graph) != 2:
        raise InputError(
            f"Row {i} is of type {type(graph).__name__}, and the kernel takes graphs. Use a pair (labels, edges) "
            "such as (['C', 'O'], [(0, 1)]), or a dict with these two entries."
        )
    labels, edges = graph
    if isinstance(labels, int | np.integer) and not isinstance(labels, bool):
        labels = [None] * int(labels)
    labels = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    try:
        pairs = np.array(edges if isinstance(edges, np.ndarray) else [tuple(edge) for edge in edges])
        pairs = pairs.reshape(-1, 2) if pairs.size else np.zeros((0, 2), dtype=np.int64)
        numbers = pairs.astype(np.int64)
        sound = bool((numbers == pairs).all())
    except (TypeError, ValueError):
        sound = False
    if not sound:
        raise InputError(
            f"The edges of the graph in row {i} are not pairs of node numbers. Use a list such as [(0, 1), (1, 2)]."
        )
    if len(numbers) and (numbers.min() < 0 or numbers.max() >= len(labels)):
        raise InputError(
            f"The graph in row {i} has {len(labels)} nodes and an edge with the node {numbers.max()}"
            f"{'' if numbers.min() >= 0 else f' or {numbers.min()}'}. Use numbers from 0 to {len(labels) - 1}."
        )
    return labels, numbers
