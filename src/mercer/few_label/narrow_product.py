"""A compiled product of many rows with a few columns of weights, which BLAS takes twice the time for. Imports numba."""

import numpy as np

from ..compilation import compiled
from ..types import Array


def product(Z: Array, W: Array) -> Array:
    """(k, n) the product of Z (n, r) with W (r, k), transposed. Both are in single precision, Z row by row."""
    n, k = len(Z), W.shape[1]
    rows, columns = 4, 5  # that `_multiply` takes at once, so that their twenty sums stay in registers
    weights = np.zeros((-(-k // columns) * columns, len(W)), dtype=np.float32)
    weights[:k] = W.T
    out = np.empty((len(weights), n), dtype=np.float32)
    whole = n - n % rows
    _multiply(Z[:whole], weights, out[:, :whole])
    out[:, whole:] = weights @ Z[whole:].T
    return out[:k]


@compiled("void(float32[:,::1], float32[:,::1], float32[:,:])", nogil=True, fastmath=True)
def _multiply(Z: Array, W: Array, out: Array) -> None:
    n, r = Z.shape
    zero = np.float32(0.0)
    for i in range(0, n, 4):
        for c in range(0, W.shape[0], 5):
            z0, z1, z2, z3 = Z[i], Z[i + 1], Z[i + 2], Z[i + 3]
            w0, w1, w2, w3, w4 = W[c], W[c + 1], W[c + 2], W[c + 3], W[c + 4]
            a0 = a1 = a2 = a3 = a4 = b0 = b1 = b2 = b3 = b4 = zero
            c0 = c1 = c2 = c3 = c4 = d0 = d1 = d2 = d3 = d4 = zero
            for j in range(r):
                za, zb, zc, zd = z0[j], z1[j], z2[j], z3[j]
                w = w0[j]
                a0, b0, c0, d0 = a0 + za * w, b0 + zb * w, c0 + zc * w, d0 + zd * w
                w = w1[j]
                a1, b1, c1, d1 = a1 + za * w, b1 + zb * w, c1 + zc * w, d1 + zd * w
                w = w2[j]
                a2, b2, c2, d2 = a2 + za * w, b2 + zb * w, c2 + zc * w, d2 + zd * w
                w = w3[j]
                a3, b3, c3, d3 = a3 + za * w, b3 + zb * w, c3 + zc * w, d3 + zd * w
                w = w4[j]
                a4, b4, c4, d4 = a4 + za * w, b4 + zb * w, c4 + zc * w, d4 + zd * w
            out[c, i], out[c, i + 1], out[c, i + 2], out[c, i + 3] = a0, b0, c0, d0
            out[c + 1, i], out[c + 1, i + 1], out[c + 1, i + 2], out[c + 1, i + 3] = a1, b1, c1, d1
            out[c + 2, i], out[c + 2, i + 1], out[c + 2, i + 2], out[c + 2, i + 3] = a2, b2, c2, d2
            out[c + 3, i], out[c + 3, i + 1], out[c + 3, i + 2], out[c + 3, i + 3] = a3, b3, c3, d3
            out[c + 4, i], out[c + 4, i + 1], out[c + 4, i + 2], out[c + 4, i + 3] = a4, b4, c4, d4
