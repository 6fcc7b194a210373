"""Exact nearest rows among tensors, found by products and selection on their device, with a proof for every row.

The values ‖y‖²/2 − x·y of a row are reduced to the least one of every group of `SIZES.lines` before they reach memory.
On a GPU one kernel does this together with the products, from half-precision halves (x = h + l, 22 bits). Elsewhere
they come from a matrix product. The m smallest values are in the m groups of least minimum, so only the rows of these
groups are measured, in double precision from differences. A row outside of them and nearer would contradict the
rounding of its value. If the rounding is too coarse for this proof, as among ties, the row is compared with all others
in double precision.
"""

import functools
from typing import Any, NamedTuple

from ..backend import need, on_gpu
from ..types import Array, Block, Rows


class SearchSizes(NamedTuple):
    """Sizes of the search.

    Attributes
    ----------
    spare : groups examined beyond the number of neighbors wanted.
    lines : values of which the least is kept.
    groups : minima of which the least is examined first.
    few : rows up to which all distances are measured.
    lanes : number of groups in a GPU tile.
    memory : fraction of the free GPU memory for the values of a block of rows.
    cpu_bytes : bytes of these values on the CPU.
    largest : largest half-precision number that is used. Larger ones prove nothing.
    tile : rows, columns, warps and stages of a GPU tile, the fastest of several on an H200.
    wide_tile : the same for rows with more than 128 columns, which come in chunks.
    """

    spare: int = 6
    lines: int = 16
    groups: int = 32
    few: int = 2048
    lanes: int = 128
    memory: float = 0.2
    cpu_bytes: int = 2**26
    largest: float = 3e4
    tile: tuple[int, int, int, int] = (128, 128, 8, 2)
    wide_tile: tuple[int, int, int, int] = (128, 128, 8, 3)


SIZES = SearchSizes()


class Nearest:
    """A search among rows that are tensors.

    Parameters
    ----------
    Y : (m, d) tensor.
    free : bytes that may be allocated in addition to it, None if unknown.
    """

    def __init__(self, Y: Rows, free: int | None = None):
        torch = need("torch")
        self.Y, self.free = Y, free
        self.center = Y[:: Y.shape[0] // 1000 + 1].double().median(0).values
        moved = Y.double() - self.center if Y.shape[0] <= SIZES.few else (Y - self.center.to(Y.dtype))
        self.fused = _fused() if on_gpu(Y) and Y.shape[0] > SIZES.few and Y.shape[1] <= 4096 else None
        if self.fused is None:
            self.table, self.norms = moved, (moved * moved).sum(1) / 2
        else:
            self.scale = 16.0 / max(float(moved.abs().max()), torch.finfo(torch.float32).tiny)
            self.table = self._halves(moved)
            self.norms = ((moved * self.scale).float() ** 2).sum(1) / 2
        m = Y.shape[0]
        self.lines = SIZES.lines if m > SIZES.few else 1
        self.blocks = -(-m // (self.lines * SIZES.lanes))

    def __call__(self, X: Rows, k: int) -> tuple[Array, Array]:
        """(distances, row numbers) of the k nearest rows, nearest first, on the host."""
        torch = need("torch")
        n, m = X.shape[0], self.Y.shape[0]
        squared = torch.empty((n, k), dtype=torch.float64, device=X.device)
        index = torch.empty((n, k), dtype=torch.int64, device=X.device)
        wanted = k + SIZES.spare
        exact = m <= SIZES.few or wanted * self.lines * 4 > m
        step = self._step(m if exact else self.blocks * SIZES.lanes * (1 if self.fused else self.lines), X, wanted)
        for start in range(0, n, step):
            rows = slice(start, start + step)
            if exact:
                squared[rows], index[rows] = self._measured(X[rows], k)
                continue
            squared[rows], index[rows], sure = self._selected(X[rows], k, wanted)
            left = torch.nonzero(~sure).ravel() + start
            for part in left.split(max(1, step // 16)):
                squared[part], index[part] = self._measured(X[part], k)
        return squared.sqrt_().cpu().numpy(), index.cpu().numpy()

    def _step(self, width: int, X: Rows, wanted: int) -> int:
        """Rows of a block, so that the values and the rows of the examined groups take a fraction of the memory."""
        examined = wanted * self.lines * (X.shape[1] + 4)
        n_bytes = SIZES.memory * self.free if on_gpu(X) and self.free is not None else SIZES.cpu_bytes
        return int(min(max(n_bytes / (8 * (width + examined)), 16), 65536))

    def _measured(self, X: Rows, k: int) -> tuple[Block, Block]:
        """All distances in double precision. Products choose the rows, and differences measure them."""
        torch = need("torch")
        x, y = X.double() - self.center, self.Y.double() - self.center
        value = torch.addmm((y * y).sum(1)[None] / 2, x, y.T, alpha=-1.0)
        place = value.topk(min(k + SIZES.spare, len(y)), largest=False).indices
        return _ordered(X, self.Y, place, k)

    def _selected(self, X: Rows, k: int, wanted: int) -> tuple[Any, Any, Any]:
        """(squared distances, row numbers, whether each row is proved) of the k nearest rows."""
        torch = need("torch")
        x = X - self.center.to(X.dtype)
        least = self._minima(x)
        groups = max(g for g in (1, 2, 4, 8, 16, SIZES.groups) if least.shape[1] // g >= 2 * wanted)
        column = least.view(len(x), groups, -1).amin(1).topk(wanted, largest=False).indices
        span = least.shape[1] // groups
        among = (column[:, None] + span * torch.arange(groups, device=x.device)[:, None]).flatten(1)
        value, place = least.gather(1, among).topk(wanted, largest=False)
        group = among.gather(1, place)
        start = group // SIZES.lanes * (self.lines * SIZES.lanes) + group % SIZES.lanes
        rows = (start[:, None] + SIZES.lanes * torch.arange(self.lines, device=x.device)[:, None]).flatten(1)
        some = rows.clamp(max=len(self.Y) - 1)
        near = (self.Y[some] - X[:, None]).square_().sum(2)
        near[rows >= len(self.Y)] = torch.inf
        squared, index = _ordered(X, self.Y, some.gather(1, near.topk(wanted, largest=False).indices), k)
        length, last = x.double().norm(dim=1), squared[:, -1].sqrt()
        unit, bits, most = 1.0, torch.finfo(X.dtype).eps, torch.inf
        if self.fused is not None:
            unit, bits, most = self.scale, 2.0**-22, SIZES.largest
        rounding = (X.shape[1] + 32) * bits * (2 * length + last) ** 2
        sure = squared[:, -1] - length**2 + rounding < 2 * value[:, -1].double() / unit**2
        return squared, index, sure & (length * unit < most)

    def _minima(self, x: Rows) -> Block:
        """(n, groups) least values of the groups. Group c of block b has the rows (b·lines + g)·lanes + c."""
        torch = need("torch")
        n, m = len(x), len(self.Y)
        width = self.blocks * SIZES.lanes
        if self.fused is None:
            value = x.new_full((n, width * self.lines), torch.inf)
            torch.addmm(self.norms[None], x, self.table.T, alpha=-1.0, out=value[:, :m])
            return value.view(n, self.blocks, self.lines, SIZES.lanes).amin(2).flatten(1)
        (xh, xl), (yh, yl) = self._halves(x), self.table
        out = torch.empty((n, width), dtype=torch.float32, device=x.device)
        wide = xh.shape[1] > 128
        block_m, block_n, warps, stages = SIZES.wide_tile if wide else SIZES.tile
        chunk = 64 if wide else xh.shape[1]
        self.fused[(-(-n // block_m), self.blocks)](
            xh, xl, yh, yl, self.norms, out, n, m, width, xh.shape[1], chunk, xh.shape[1] <= chunk, self.lines,
            block_m, block_n, num_warps=warps, num_stages=stages,
        )  # fmt: skip
        return out

    def _halves(self, x: Rows) -> tuple[Block, Block]:
        """High and low half-precision parts of rows scaled to at most 16, padded to whole chunks of columns."""
        torch = need("torch")
        d = x.shape[1]
        width = padded_width(d)
        scaled = torch.zeros((len(x), width), dtype=torch.float32, device=x.device)
        torch.mul(x, self.scale, out=scaled[:, :d]) if x.dtype == torch.float32 else scaled[:, :d].copy_(x * self.scale)
        high = scaled.half()
        return high, scaled.sub_(high).half()


def padded_width(d: int) -> int:
    """d rounded up to a power of two if a tile contains whole rows, else to a multiple of its 64-column chunks."""
    return max(16, 1 << (d - 1).bit_length()) if d <= 128 else -(-d // 64) * 64


def _ordered(X: Rows, Y: Rows, place: Any, k: int) -> tuple[Block, Block]:
    """The k nearest of some rows in double precision. Equally near ones are in the order of their numbers."""
    place = place.sort(1).values
    squared = (Y[place].double() - X.double()[:, None]).square_().sum(2)
    squared, order = squared.sort(dim=1, stable=True)
    return squared[:, :k], place.gather(1, order[:, :k])


@functools.cache
def _fused() -> Block:
    """The compiled kernel, or None if Triton is not installed."""
    try:
        from ._triton import least_in_groups
    except ImportError:
        return None
    return least_in_groups
