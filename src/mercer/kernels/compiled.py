"""A compiled exponential for processors without a vector exponential in NumPy, four times as fast. Imports numba."""

from math import factorial

from numba import types
from numba.extending import intrinsic

from ..compilation import compiled

LOWEST = -708.0  # exponentials of smaller numbers are not normal floats and become 0
SERIES = tuple(1.0 / factorial(power) for power in range(14))  # Taylor coefficients


@intrinsic
def _bits(_context, _number):
    """The bits of a float64 as an int64."""
    return types.int64(types.float64), lambda context, builder, _signature, arguments: builder.bitcast(
        arguments[0], context.get_value_type(types.int64)
    )


@intrinsic
def _number(_context, _bits):
    """The float64 with the bits of an int64."""
    return types.float64(types.int64), lambda context, builder, _signature, arguments: builder.bitcast(
        arguments[0], context.get_value_type(types.float64)
    )


@compiled("void(float64[::1])", nogil=True, error_model="numpy", fastmath={"contract"})
def exponential(x):
    """Replace x ≤ 0 by e^x up to one unit in the last place, as 2ⁿ e^r with |r| ≤ ln(2) / 2 and 13 terms for e^r."""
    c = SERIES
    shift = 6755399441055744.0  # 1.5 · 2⁵². Adding it leaves the nearest whole number in the lowest bits
    for i in range(x.shape[0]):
        given = x[i]
        power = given if given > LOWEST else LOWEST
        shifted = power * 1.4426950408889634 + shift  # log₂ e
        n = shifted - shift
        # The sum of these two numbers is ln 2, to 85 bits.
        r = (power - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10
        p = (((((c[13] * r + c[12]) * r + c[11]) * r + c[10]) * r + c[9]) * r + c[8]) * r + c[7]
        p = (((((p * r + c[6]) * r + c[5]) * r + c[4]) * r + c[3]) * r + c[2]) * r + 1.0
        e = _number(_bits(p * r + 1.0) + (_bits(shifted) << 52))
        x[i] = e if given > LOWEST else (0.0 if given <= LOWEST else given)  # NaN stays NaN
