"""Convolution of every channel by itself, compiled. Most other layers of small networks are matrix products."""

import numpy as np

from ...compilation import compiled


@compiled("float32[:,:,::1](float32[:,:,::1], float32[:,:,::1], int64)", fastmath=True)
def depthwise(padded, weights, stride):
    """(rows, columns, channels) of padded pixels by (k, k, channels) weights."""
    k = len(weights)
    rows, columns = (padded.shape[0] - k) // stride + 1, (padded.shape[1] - k) // stride + 1
    made = np.zeros((rows, columns, padded.shape[2]), dtype=np.float32)
    for i in range(rows):
        for j in range(columns):
            out = made[i, j]
            for a in range(k):
                for b in range(k):
                    pixel, weight = padded[i * stride + a, j * stride + b], weights[a, b]
                    for c in range(len(out)):
                        out[c] += pixel[c] * weight[c]
    return made
