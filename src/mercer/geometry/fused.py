"""K @ V on a CUDA device in one pass over inner products, kernel function and product with V.

No n × n tile is in memory.

The matrix units take half-precision operands, whose 11-bit mantissa is that of TF32 at twice its rate. Rows and columns
are split once, outside the loop, into a high and a low half (x = h + l, 22 bits), so that

- ``"fast"`` uses the high halves of the rows (relative error of an entry near 1e-3),
- ``"high"`` adds the two cross terms h·l + l·h (near 1e-6),
- ``"exact"`` multiplies float32 numbers in float32.

In "fast" the squared norms are those of the rounded rows, so two equal rows are at distance zero in every precision.
Kernels that are a sum of formulas (`Kernel.terms`) are fused. The rest use torch tiles.
Triton is imported when the first product is made.
"""

import functools
from typing import Any

import numpy as np

from ..backend import need, on_gpu
from ..homes.nearest import padded_width
from ..kernels import Formula, Kernel, Term
from ..types import Block, Rows


def supports(kernel: Kernel, X: Rows) -> bool:
    """Whether the product of this kernel on these rows can be fused."""
    if not on_gpu(X) or str(X.dtype) != "torch.float32" or X.shape[1] > 4096 or kernel.terms() is None:
        return False
    return _triton() is not None


@functools.cache
def _triton() -> Any:
    """The compiled kernel, or None if Triton is not installed."""
    try:
        from ._triton import fused_product
    except ImportError:
        return None
    return fused_product


class Side:
    """Rows that are split in halves, scaled and padded to a power of two columns, as the matrix units need them."""

    def __init__(self, X: Rows, center: Block, magnitude: float, precision: str):
        torch = need("torch")
        n, d = X.shape
        width = padded_width(d)
        # Half precision has a small range, so rows are scaled to at most 16, and shifted if only distances count.
        scaled = torch.zeros((n, width), dtype=torch.float32, device=X.device)
        torch.sub(X, center, out=scaled[:, :d])
        scaled[:, :d] *= 16.0 / magnitude
        self.n, self.width, self.precision = n, width, precision
        if precision == "exact":
            self.high = self.low = scaled
            self.norms = (scaled * scaled).sum(1)
            return
        self.high = scaled.half()
        if precision == "fast":
            self.low = self.high
            self.norms = self.high.float().square_().sum(1)
        else:
            self.norms = (scaled * scaled).sum(1)
            self.low = scaled.sub_(self.high).half()


def product(kernel: Kernel, X: Rows, Y: Rows, V: Rows, precision: str = "high") -> Block:
    """k(X, Y) @ V in float32 on the device, for float32 CUDA rows and a float32 V on the same device."""
    left, right, scale = sides(kernel, X, Y, precision)
    return multiply(kernel, left, right, scale, V)


def sides(kernel: Any, X: Rows, Y: Rows, precision: str) -> tuple[Side, Side, float]:
    """Both sides prepared with one shift and one scale. Keep them to multiply many V."""
    torch = need("torch")
    radial = all(term.code <= Formula.MATERN52 for term in kernel.terms())
    center = Y.mean(0) if radial else torch.zeros_like(Y[0])
    magnitude = max(float((Y - center).abs().max()), float((X - center).abs().max()) if X is not Y else 0.0) or 1.0
    right = Side(Y, center, magnitude, precision)
    left = right if X is Y else Side(X, center, magnitude, precision)
    return left, right, 16.0 / magnitude


def multiply(kernel: Any, left: Side, right: Side, scale: float, V: Rows) -> Block:
    """The product for prepared sides. V is cut into strips of at most 128 columns."""
    torch = need("torch")
    if V.shape[1] > 128:
        return torch.cat([multiply(kernel, left, right, scale, strip) for strip in V.split(128, dim=1)], dim=1)
    terms = kernel.terms()
    # |k(x, y)| ≤ √(k(x,x) k(y,y)): dividing by this bound keeps the kernel values within half precision's range.
    largest = float(torch.maximum(left.norms.max(), right.norms.max())) / scale**2
    bound = float(sum(_bound(term, largest) for term in terms))
    bounded = [term._replace(factor=term.factor / bound) for term in terms]
    numbers = [number for term in bounded for number in numbers_of(term, scale)]
    table = torch.tensor(numbers, dtype=torch.float32, device=V.device)
    columns = max(16, 1 << (V.shape[1] - 1).bit_length())
    size = V.abs().amax(0).clamp_min(torch.finfo(torch.float32).tiny)
    padded = torch.zeros((right.n, columns), dtype=torch.float32, device=V.device)
    torch.div(V, size, out=padded[:, : V.shape[1]])
    exact = left.precision == "exact"
    high = padded if exact else padded.half()
    low = padded if exact else (padded - high).half()
    codes = tuple(int(term.code) for term in terms)
    block_m, block_n, chunk, warps, stages = tile_shape(left.width, columns, left.precision)
    # Partial sums over at most 2¹⁷ columns each are added in float64: float32 would lose a digit over a million terms.
    splits = int(min(8, max(1, -(-right.n // 131072), 2 * 132 * block_m // max(left.n, 1))))
    length = -(-right.n // (splits * block_n)) * block_n
    out = torch.empty((splits, left.n, columns), dtype=torch.float32, device=V.device)
    grid = (-(-left.n // block_m), splits)
    mode = {"fast": 0, "high": 1, "exact": 2}[left.precision]
    _triton()[grid](
        left.high, left.low, right.high, right.low, left.norms, right.norms, high, low, out, table,
        left.n, right.n, length, left.width, codes, columns, chunk, left.width <= chunk, left is right, mode,
        block_m, block_n, num_warps=warps, num_stages=stages,
    )  # fmt: skip
    total = out[0] if splits == 1 else out.sum(0, dtype=torch.float64).float()
    return total[:, : V.shape[1]] * (size * bound)


def tile_shape(width: int, columns: int, precision: str) -> tuple[int, int, int, int, int]:
    """(rows, columns, inner chunk, warps, stages) of the tile that was the fastest of several on an H200."""
    if precision == "exact":
        return 128, 128, 16, 8, 3
    fast = precision == "fast"
    if width > 128:
        return (128, 256, 64, 8, 3) if fast else (128, 128, 64, 8, 3)
    if columns > 64:
        return (128, 64, width, 8, 3) if fast else (128, 64, width, 8, 2)
    return (128, 64, width, 4, 3) if fast else (256, 64, width, 8, 2)


def _bound(term: Term, largest: float) -> float:
    """Largest |value| of a term, for squared norms of at most `largest`."""
    if term.code <= Formula.MATERN52 or term.code == Formula.COSINE:
        return term.factor
    if term.code == Formula.LINEAR:
        return term.factor * max(largest, float(np.finfo(np.float32).tiny))
    return term.factor * (term.scale * largest + abs(term.offset)) ** (term.code - Formula.POWER)


def numbers_of(term: Term, unit: float) -> tuple[float, float, float]:
    """The term's (factor, scale, offset) for rows that are `unit` times the real ones."""
    code, factor, scale, offset = term
    if code == Formula.GAUSSIAN:
        return factor, -0.5 * scale / unit**2 * np.log2(np.e), 0.0
    if code <= Formula.MATERN52:
        root = {Formula.EXPONENTIAL: 1.0, Formula.MATERN32: 3.0, Formula.MATERN52: 5.0}[Formula(code)]
        return factor, root * scale / unit**2, 0.0
    if code == Formula.LINEAR:
        return factor / unit**2, 1.0, 0.0
    return factor, scale / unit**2, offset
