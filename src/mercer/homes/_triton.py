"""The Triton kernel behind `Nearest` on a GPU: imported for the first search, where Triton is installed."""

import triton
import triton.language as tl

from .triton_products import add_chunks, add_whole


@triton.jit
def least_in_groups(
    XH, XL, YH, YL, NY, OUT, n, m, width,
    D: tl.constexpr, CHUNK: tl.constexpr, WHOLE: tl.constexpr, LINES: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """OUT[i, b·BN + c] = the least ‖y_j‖²/2 − x_i·y_j over the LINES rows j = (b·LINES + g)·BN + c, g = 0, 1, …"""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    inner = tl.arange(0, CHUNK)
    live = rows < n
    x_at = rows.to(tl.int64)[:, None] * D
    if WHOLE:
        within = live[:, None] & (inner < D)[None, :]
        xh = tl.load(XH + x_at + inner[None, :], mask=within, other=0.0)
        xl = tl.load(XL + x_at + inner[None, :], mask=within, other=0.0)
    least = tl.full((BM, BN), float("inf"), dtype=tl.float32)
    first = tl.program_id(1) * LINES * BN
    for start in range(first, first + LINES * BN, BN):
        cols = start + tl.arange(0, BN)
        there = cols < m
        y_at = cols.to(tl.int64)[None, :] * D
        S = tl.zeros((BM, BN), dtype=tl.float32)
        if WHOLE:
            S = add_whole(S, xh, xl, YH, YL, y_at, there, D, CHUNK, 1)
        else:
            S = add_chunks(S, XH, XL, YH, YL, x_at, y_at, live, there, D, CHUNK, 1)
        ny = tl.load(NY + cols, mask=there, other=float("inf"))
        least = tl.minimum(least, ny[None, :] - S)
    lanes = tl.program_id(1).to(tl.int64) * BN + tl.arange(0, BN)
    tl.store(OUT + rows.to(tl.int64)[:, None] * width + lanes[None, :], least, mask=live[:, None])
