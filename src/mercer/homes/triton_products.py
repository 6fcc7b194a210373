"""Inner products of rows in halves (x = h + l), for the Triton kernels of this room and of `geometry`."""

import triton
import triton.language as tl


@triton.jit
def add_products(S, xh, xl, yh, yl, MODE: tl.constexpr):
    """S + x·y. MODE 0: high halves only; 1: with both cross terms; 2: float32 numbers in float32."""
    if MODE == 2:
        S = tl.dot(xh, yh, S, input_precision="ieee")
    else:
        S = tl.dot(xh, yh, S)
        if MODE == 1:
            S = tl.dot(xh, yl, S)
            S = tl.dot(xl, yh, S)
    return S


@triton.jit
def add_whole(S, xh, xl, YH, YL, y_at, there, D: tl.constexpr, CHUNK: tl.constexpr, MODE: tl.constexpr):
    """S + x·y for rows x that are loaded already, of at most CHUNK columns."""
    inner = tl.arange(0, CHUNK)
    mask = there[None, :] & (inner < D)[:, None]
    yh = tl.load(YH + y_at + inner[:, None], mask=mask, other=0.0)
    yl = yh
    if MODE == 1:
        yl = tl.load(YL + y_at + inner[:, None], mask=mask, other=0.0)
    return add_products(S, xh, xl, yh, yl, MODE)


@triton.jit
def add_chunks(
    S, XH, XL, YH, YL, x_at, y_at, live, there, D: tl.constexpr, CHUNK: tl.constexpr, MODE: tl.constexpr
):  # fmt: skip
    """S + x·y, CHUNK columns at a time."""
    inner = tl.arange(0, CHUNK)
    for at in range(0, D, CHUNK):
        x_mask = live[:, None] & (at + inner < D)[None, :]
        y_mask = there[None, :] & (at + inner < D)[:, None]
        xh = tl.load(XH + x_at + at + inner[None, :], mask=x_mask, other=0.0)
        yh = tl.load(YH + y_at + at + inner[:, None], mask=y_mask, other=0.0)
        xl = xh
        yl = yh
        if MODE == 1:
            xl = tl.load(XL + x_at + at + inner[None, :], mask=x_mask, other=0.0)
            yl = tl.load(YL + y_at + at + inner[:, None], mask=y_mask, other=0.0)
        S = add_products(S, xh, xl, yh, yl, MODE)
    return S
