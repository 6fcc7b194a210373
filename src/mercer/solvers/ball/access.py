"""Access of a round of SVDD to K in any form. A round needs a small dense block of K, and the change of the gradient
when some β change. `keep` (a flag, or one for each row) marks the columns that will be needed again.
"""

import numpy as np

from ... import rows
from ...types import Rows

LIMIT = 4096  # rows in a working set (half of them in-bound), which is at most 130 MB of kernel values


class Dense:
    """A matrix on the host."""

    limit, dtype = LIMIT, np.float64

    def __init__(self, K: np.ndarray) -> None:
        self.K, self.n_columns = np.ascontiguousarray(K, dtype=np.float64), 0

    def block(self, idx: np.ndarray) -> np.ndarray:
        return self.K[np.ix_(idx, idx)]

    def subtract(self, out: np.ndarray, idx: np.ndarray, factor: np.ndarray, keep: np.ndarray | bool = True) -> None:
        from .smo import subtract_rows

        subtract_rows(out, self.K, idx, factor)


class Features:
    """Features Z with K = ZZᵀ."""

    limit = LIMIT

    def __init__(self, Z: Rows) -> None:
        self.Z, self.dtype = Z, Z.dtype

    def block(self, idx: np.ndarray) -> np.ndarray:
        some = rows.take(self.Z, idx)
        return some @ some.T

    def subtract(self, out: np.ndarray, idx: np.ndarray, factor: np.ndarray, keep: np.ndarray | bool = True) -> None:
        if len(idx) <= out.shape[0] // 10:
            weight = rows.take(self.Z, idx).T @ factor
        else:
            full = np.zeros(out.shape[0])
            full[idx] = factor
            weight = rows.tdot(self.Z, full)
        out -= rows.dot(self.Z, weight)


class DeviceProducts:
    """Kernel columns combined on the GPU that computes them, which is faster than moving them to the host."""

    limit, dtype = LIMIT, np.float32

    def __init__(self, K: Rows) -> None:
        self.K, self.n_columns = K, 0

    def block(self, idx: np.ndarray) -> np.ndarray:
        return self.K.block(idx)

    def subtract(self, out: np.ndarray, idx: np.ndarray, factor: np.ndarray, keep: bool = True) -> None:
        out -= self.K.combine(idx, factor)
        self.n_columns += len(idx)


class CachedColumns:
    """Kernel columns kept in memory. The least recently used leave first."""

    dtype = np.float64
    at_once = 1 << 20  # kernel values computed at once

    def __init__(self, K: Rows, cache_bytes: int) -> None:
        self.K, n = K, K.shape[0]
        kept = max(cache_bytes - 8 * self.at_once, cache_bytes // 2)  # the rest is for the columns being computed
        self.capacity = min(n, max(int(kept // (8 * n)), 64))
        self.limit = min(self.capacity, LIMIT)
        self.store = np.empty((0, n))
        self.slot_of = np.full(n, -1)
        self.owner = np.full(self.capacity, -1)
        self.used_at = np.zeros(self.capacity, dtype=np.int64)
        self.clock, self.n_columns, self.filled = 0, 0, 0

    def block(self, idx: np.ndarray) -> np.ndarray:
        """K[idx][:, idx], from the stored columns. Only pairs of which neither is stored need kernel values."""
        slots = self.slot_of[idx]
        old, new = np.flatnonzero(slots >= 0), np.flatnonzero(slots < 0)
        if len(old) <= len(new):  # at most a third more kernel values, which take less time than the lookup
            return np.ascontiguousarray(self.K.block(idx))
        self.clock += 1
        self.used_at[slots[old]] = self.clock
        out = np.empty((len(idx), len(idx)))
        out[old] = known = self.store[np.ix_(slots[old], idx)]
        if len(new):
            out[np.ix_(new, old)] = known[:, new].T
            out[np.ix_(new, new)] = self.K.block(idx[new])
        return out

    def subtract(self, out: np.ndarray, idx: np.ndarray, factor: np.ndarray, keep: bool = True) -> None:
        from .smo import subtract_rows

        known = self.slot_of[idx] >= 0
        stored = known | keep
        if np.sum(stored) > self.capacity // 2 and self.filled + np.sum(stored & ~known) > self.capacity:
            stored = known  # too many to keep
        subtract_rows(out, self.store, self._slots(idx[stored]), factor[stored])
        idx, factor = idx[~stored], factor[~stored]
        if len(idx):
            out -= self.K.combine(idx, factor)
            self.n_columns += len(idx)

    def _slots(self, idx: np.ndarray) -> np.ndarray:
        """Slots of the columns idx in the store, after computing those that are missing."""
        self.clock += 1
        kept = self.slot_of[idx]
        self.used_at[kept[kept >= 0]] = self.clock
        missing = idx[kept < 0]
        if len(missing):
            slots, step = self._room(len(missing)), max(16, self.at_once // len(self.slot_of))
            for begin in range(0, len(missing), step):
                part = slice(begin, begin + step)
                self.store[slots[part]] = self.K.columns(missing[part]).T
            self.n_columns += len(missing)
            self.owner[slots], self.slot_of[missing], self.used_at[slots] = missing, slots, self.clock
        return self.slot_of[idx]

    def _room(self, count: int) -> np.ndarray:
        """The next free slots while there are any, then the least recently used."""
        begin, self.filled = self.filled, min(self.filled + count, self.capacity)
        # The store grows step by step, because one large new array would take its memory in huge pages.
        self.store.resize((self.filled, len(self.slot_of)), refcheck=False)
        if begin + count <= self.capacity:
            return np.arange(begin, self.filled)
        slots = np.argsort(self.used_at, kind="stable")[:count]
        gone = self.owner[slots]
        self.slot_of[gone[gone >= 0]] = -1
        return slots
