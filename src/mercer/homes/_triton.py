"""The Triton kernel behind `Nearest` on a GPU. It is imported for the first search if Triton is installed."""

import triton
import triton.language as tl


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
            mask = there[None, :] & (inner < D)[:, None]
            yh = tl.load(YH + y_at + inner[:, None], mask=mask, other=0.0)
            yl = tl.load(YL + y_at + inner[:, None], mask=mask, other=0.0)
            S = tl.dot(xh, yh, S)
            S = tl.dot(xh, yl, S)
            S = tl.dot(xl, yh, S)
        else:
            for at in range(0, D, CHUNK):
                x_mask = live[:, None] & (at + inner < D)[None, :]
                y_mask = there[None, :] & (at + inner < D)[:, None]
                xh = tl.load(XH + x_at + at + inner[None, :], mask=x_mask, other=0.0)
                xl = tl.load(XL + x_at + at + inner[None, :], mask=x_mask, other=0.0)
                yh = tl.load(YH + y_at + at + inner[:, None], mask=y_mask, other=0.0)
                yl = tl.load(YL + y_at + at + inner[:, None], mask=y_mask, other=0.0)
                S = tl.dot(xh, yh, S)
                S = tl.dot(xh, yl, S)
                S = tl.dot(xl, yh, S)
        ny = tl.load(NY + cols, mask=there, other=float("inf"))
        least = tl.minimum(least, ny[None, :] - S)
    lanes = tl.program_id(1).to(tl.int64) * BN + tl.arange(0, BN)
    tl.store(OUT + rows.to(tl.int64)[:, None] * width + lanes[None, :], least, mask=live[:, None])
