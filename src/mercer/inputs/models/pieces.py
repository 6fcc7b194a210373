"""Long texts in pieces that a sentence model can read. The vector of a text is the mean over its pieces."""

from collections.abc import Callable, Sequence

import numpy as np


def in_pieces(
    tokens: Sequence[list[int]],
    longest: int,
    forward: Callable[[list[list[int]]], np.ndarray],
    width: int = 0,
    on_part: Callable[[int], None] | None = None,
) -> np.ndarray:
    """(n, width) vectors of the lists of tokens, over at most two pieces of a long one.

    Parameters
    ----------
    tokens : list of tokens of each text.
    longest : number of tokens of a piece.
    forward : function from pieces to their vectors.
    width : length of a vector, if there is no text.
    on_part : function that gets the number of texts that are done.

    Examples
    --------
    >>> found = in_pieces([[1, 1, 8], [4]], 2, lambda pieces: np.array([[np.mean(piece)] for piece in pieces]))
    >>> found.tolist()  # a piece counts as its tokens and the two that mark its ends, so (4 · 1 + 3 · 8) / 7
    [[4.0], [4.0]]
    """
    at_once = 1024  # tokens in a batch. The widest layer of a small model is 6 MB then, which fits in the cache
    pieces, owners = [], []
    for place, text in enumerate(tokens):
        for begin in range(0, max(len(text), 1), longest)[:2]:
            pieces.append(text[begin : begin + longest])
            owners.append(place)
    made, counts = np.zeros((len(tokens), width)), np.zeros(len(tokens))
    left = np.bincount(owners, minlength=len(tokens))
    order, begin = np.argsort([len(piece) for piece in pieces], kind="stable")[::-1], 0
    while begin < len(order):  # texts of nearly one length at a time, the longest first
        number = max(at_once // (len(pieces[order[begin]]) + 2), 1)
        part = order[begin : begin + number]
        rows = forward([pieces[i] for i in part])
        made = np.zeros((len(tokens), rows.shape[1])) if begin == 0 else made
        for place, vector in zip(part, rows):
            weight = len(pieces[place]) + 2
            made[owners[place]] += weight * vector
            counts[owners[place]] += weight
            left[owners[place]] -= 1
        begin += number
        if on_part is not None:
            on_part(int(np.count_nonzero(left == 0)))
    return (made / np.maximum(counts, 1)[:, None]).astype(np.float32)
