"""The dense regions of the map, and the word that distinguishes the texts of each."""

import numpy as np
from scipy import ndimage

from ..inputs.tables.distinctive import distinctive, words

SIDE = 48  # cells of the map each way
MOST = 16  # regions


def regions(xy: np.ndarray, texts: list | None = None) -> list[dict]:
    """Return [{x, y, radius, word}] of the dense regions, the largest first. `word` is None without texts.

    Parameters
    ----------
    xy : (n, 2) positions from 0 to 65535. texts : of the rows, or None.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.studio.regions import regions
    >>> xy = np.repeat([[9_000, 9_000], [50_000, 50_000]], 30, axis=0)
    >>> [one["word"] for one in regions(xy, ["warm rain"] * 30 + ["cold snow and rain"] * 30)]
    ['warm', 'cold']
    """
    rows = np.unique(np.linspace(0, len(xy) - 1, 5_000).astype(int))  # evenly spaced
    eight = np.ones((3, 3))  # neighbors of a cell
    xy = np.asarray(xy, dtype=float)[rows]
    u, v = np.minimum((xy * SIDE / 65_536).astype(int), SIDE - 1).T
    counts = np.zeros((SIDE, SIDE))
    np.add.at(counts, (u, v), 1)
    soft = 1.2 + 15 / np.sqrt(len(rows))  # cells; few rows form small regions by chance
    dense = ndimage.gaussian_filter(counts, soft, mode="constant")
    apart, _ = ndimage.label(dense > 0.04 * dense.max(), structure=eight)
    tops = (dense == ndimage.maximum_filter(dense, 2 * int(2.5 * soft) + 1)) & (apart > 0)
    marks, number = ndimage.label(tops, structure=eight)
    depth = np.uint16(np.round(65_000 * (1 - dense / dense.max())))
    of = ndimage.watershed_ift(depth, marks.astype(np.int32), structure=eight)[u, v]
    island = np.r_[0, ndimage.maximum(apart, marks, range(1, number + 1))]
    of[island[of] != apart[u, v]] = 0  # rows between the regions
    said = None if texts is None else [words(texts[row]) for row in rows]
    found: list[dict] = []
    sizes = np.bincount(of, minlength=number + 1)
    for k in np.argsort(-sizes[1:], kind="stable")[:MOST] + 1:
        inside = of == k
        if inside.sum() < max(3, 0.01 * len(rows)):
            continue
        center = np.median(xy[inside], axis=0)
        away = np.linalg.norm(xy[inside] - center, axis=1)
        ahead = [] if said is None or inside.all() else distinctive(said, inside, MOST)
        named = {one["word"] for one in found}
        word = next((word for lead, word in ahead if lead >= 0.15 and word not in named), None)
        place = {"x": int(center[0]), "y": int(center[1]), "radius": int(np.quantile(away, 0.85)) + 1}
        found.append(place | {"word": word})
    return found
