"""The Triton kernel behind `fused.product`. It is imported for the first product, if Triton is installed."""

import triton
import triton.language as tl


@triton.jit
def kernel_term(S, nx, ny, same, TABLE, CODE: tl.constexpr):
    """One term's values from inner products and squared norms (codes: `mercer.kernels.Formula`)."""
    factor = tl.load(TABLE)
    scale = tl.load(TABLE + 1)
    offset = tl.load(TABLE + 2)
    if CODE <= 3:
        squared = tl.maximum(nx[:, None] + ny[None, :] - 2.0 * S, 0.0) * scale
        if CODE == 0:
            value = tl.exp2(squared)
        else:
            # The root of a rounding error is large, so the distance of a row from itself is set to zero.
            distance = tl.sqrt(tl.where(same, 0.0, squared))
            value = tl.exp2(-1.4426950408889634 * distance)
            if CODE == 2:
                value *= 1.0 + distance
            elif CODE == 3:
                value *= 1.0 + distance + squared / 3.0
    elif CODE == 4:
        value = S
    elif CODE == 5:
        value = S * tl.rsqrt(tl.maximum(nx[:, None] * ny[None, :], 1e-30))
    else:
        base = S * scale + offset
        value = base
        for _ in tl.static_range(CODE - 9):
            value *= base
    return factor * value


@triton.jit
def fused_product(
    XH, XL, YH, YL, NX, NY, VH, VL, OUT, TABLE, n, m, length,
    D: tl.constexpr, CODES: tl.constexpr, K: tl.constexpr, CHUNK: tl.constexpr, WHOLE: tl.constexpr,
    SAME: tl.constexpr, MODE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    inner = tl.arange(0, CHUNK)
    cols_k = tl.arange(0, K)
    live = rows < n
    long_rows = rows.to(tl.int64)
    nx = tl.load(NX + rows, mask=live, other=0.0)
    acc = tl.zeros((BM, K), dtype=tl.float32)
    x_at = long_rows[:, None] * D
    if WHOLE:
        within = live[:, None] & (inner < D)[None, :]
        xh = tl.load(XH + x_at + inner[None, :], mask=within, other=0.0)
        if MODE == 1:
            xl = tl.load(XL + x_at + inner[None, :], mask=within, other=0.0)
    first = tl.program_id(1) * length
    last = tl.minimum(first + length, m)
    for start in range(first, last, BN):
        cols = start + tl.arange(0, BN)
        there = cols < last
        y_at = cols.to(tl.int64)[None, :] * D
        S = tl.zeros((BM, BN), dtype=tl.float32)
        if WHOLE:
            mask = there[None, :] & (inner < D)[:, None]
            yh = tl.load(YH + y_at + inner[:, None], mask=mask, other=0.0)
            if MODE == 2:
                S = tl.dot(xh, yh, S, input_precision="ieee")
            else:
                S = tl.dot(xh, yh, S)
                if MODE == 1:
                    yl = tl.load(YL + y_at + inner[:, None], mask=mask, other=0.0)
                    S = tl.dot(xh, yl, S)
                    S = tl.dot(xl, yh, S)
        else:
            for at in range(0, D, CHUNK):
                x_mask = live[:, None] & (at + inner < D)[None, :]
                y_mask = there[None, :] & (at + inner < D)[:, None]
                xh = tl.load(XH + x_at + at + inner[None, :], mask=x_mask, other=0.0)
                yh = tl.load(YH + y_at + at + inner[:, None], mask=y_mask, other=0.0)
                if MODE == 2:
                    S = tl.dot(xh, yh, S, input_precision="ieee")
                else:
                    S = tl.dot(xh, yh, S)
                    if MODE == 1:
                        xl = tl.load(XL + x_at + at + inner[None, :], mask=x_mask, other=0.0)
                        yl = tl.load(YL + y_at + at + inner[:, None], mask=y_mask, other=0.0)
                        S = tl.dot(xh, yl, S)
                        S = tl.dot(xl, yh, S)
        ny = tl.load(NY + cols, mask=there, other=0.0)
        same = (rows[:, None] == cols[None, :]) & SAME
        P = kernel_term(S, nx, ny, same, TABLE, CODES[0])
        for t in tl.static_range(1, len(CODES)):
            P += kernel_term(S, nx, ny, same, TABLE + 3 * t, CODES[t])
        v_at = cols.to(tl.int64)[:, None] * K + cols_k[None, :]
        vh = tl.load(VH + v_at, mask=there[:, None], other=0.0)
        if MODE == 2:
            acc = tl.dot(P, vh, acc, input_precision="ieee")
        else:
            vl = tl.load(VL + v_at, mask=there[:, None], other=0.0)
            ph = P.to(tl.float16)
            acc = tl.dot(ph, vh, acc)
            acc = tl.dot(ph, vl, acc)
            if MODE == 1:
                acc = tl.dot((P - ph.to(tl.float32)).to(tl.float16), vh, acc)
    out_at = (tl.program_id(1).to(tl.int64) * n + long_rows)[:, None] * K + cols_k[None, :]
    tl.store(OUT + out_at, acc, mask=live[:, None])
