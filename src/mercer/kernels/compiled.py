"""A compiled exponential, four times as fast as NumPy's where NumPy has none for the processor. Imports numba."""

from math import factorial

from numba import types
from numba.extending import intrinsic

from ..compilation import compiled

LOWEST = -708.0  # e to a lower power is not a normal number, and becomes 0
LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # their sum is ln 2, to 85 bits
ROUND = 6755399441055744.0  # 1.5 · 2⁵²: adding it leaves the nearest whole number in the lowest bits
C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13 = (1.0 / factorial(power) for power in range(2, 14))


@intrinsic
def _bits(_context, _number):
    """The bits of a float64 as an int64."""
    return types.int64(types.float64), lambda context, builder, _signature, arguments: builder.bitcast(
        arguments[0], context.get_value_type(types.int64)
    )


@intrinsic
def _number(_context, _bits):
    """The float64 of which an int64 has the bits."""
    return types.float64(types.int64), lambda context, builder, _signature, arguments: builder.bitcast(
        arguments[0], context.get_value_type(types.float64)
    )


@compiled("void(float64[::1])", nogil=True, error_model="numpy", fastmath={"contract"})
def exponential(x):
    """x becomes e^x, for x ≤ 0, to the last digit but one: e^x = 2ⁿ e^r, |r| ≤ ln(2) / 2, and 13 terms for e^r."""
    for i in range(x.shape[0]):
        given = x[i]
        power = given if given > LOWEST else LOWEST
        shifted = power * LOG2_E + ROUND
        n = shifted - ROUND
        r = (power - n * LN2_HIGH) - n * LN2_LOW
        p = (((((C13 * r + C12) * r + C11) * r + C10) * r + C9) * r + C8) * r + C7
        p = (((((p * r + C6) * r + C5) * r + C4) * r + C3) * r + C2) * r + 1.0
        e = _number(_bits(p * r + 1.0) + (_bits(shifted) << 52))
        x[i] = e if given > LOWEST else (0.0 if given <= LOWEST else given)  # NaN stays NaN
