"""Directions in which the class of a row does not change, for `invariance=`."""

import numpy as np

from ..errors import InputError


class ImageShifts:
    """Changes of the pixels of an image when it moves by a small part of a pixel, down and to the right.

    A row is an image, pixel by pixel, line by line, channels last. Each of the two directions is half the difference
    between the image moved by one pixel in both senses. Pixels from outside are 0. A function whose derivative is 0
    along both directions is also constant along their combinations.

    Parameters
    ----------
    height, width, channels : of the images.

    Examples
    --------
    >>> from mercer import ImageShifts
    >>> image = [[0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0]]
    >>> ImageShifts(3, 3)(image)[0, 1].reshape(3, 3)  # to the right
    array([[ 0.,  0.,  0.],
           [-1.,  0.,  1.],
           [ 0.,  0.,  0.]])
    """

    def __init__(self, height: int, width: int, channels: int = 1) -> None:
        self.height = height
        self.width = width
        self.channels = channels

    def __call__(self, X):
        """(n, 2, d) directions of the n rows of X."""
        X = np.asarray(X, dtype=np.float64)
        shape = (self.height, self.width, self.channels)
        if X.ndim != 2 or X.shape[1] != np.prod(shape):
            raise InputError(
                f"{self!r} describes rows of {np.prod(shape)} numbers, and these have shape {X.shape}. "
                "Give the height, width and number of channels of the images."
            )
        images = np.pad(X.reshape(-1, *shape), ((0, 0), (1, 1), (1, 1), (0, 0)))
        down = images[:, :-2, 1:-1] - images[:, 2:, 1:-1]
        right = images[:, 1:-1, :-2] - images[:, 1:-1, 2:]
        return np.stack([down, right], axis=1).reshape(len(X), 2, -1) / 2

    def __repr__(self) -> str:
        more = "" if self.channels == 1 else f", {self.channels}"
        return f"ImageShifts({self.height}, {self.width}{more})"
