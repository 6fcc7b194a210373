"""Sums of minima and of products over common parts, compiled. Imports numba."""

from ..compilation import compiled

SIGNATURE = "void(int32[::1], int32[::1], int32[::1], int32[::1], float64[::1], float64[::1], float64[:, ::1])"


@compiled(SIGNATURE, nogil=True)
def product_sums(ends, elements, column_ends, column_rows, left, right, out):
    """out[i, j] += Σ left · right for a CSR matrix of rows i and a CSC matrix of rows j."""
    for i in range(len(ends) - 1):
        for place in range(ends[i], ends[i + 1]):
            element, value = elements[place], left[place]
            for other in range(column_ends[element], column_ends[element + 1]):
                out[i, column_rows[other]] += value * right[other]


@compiled(SIGNATURE, nogil=True)
def smaller_sums(ends, elements, column_ends, column_rows, left, right, out):
    """out[i, j] += Σ min(left, right) for a CSR matrix of rows i and a CSC matrix of rows j."""
    for i in range(len(ends) - 1):
        for place in range(ends[i], ends[i + 1]):
            element = elements[place]
            for other in range(column_ends[element], column_ends[element + 1]):
                out[i, column_rows[other]] += min(left[place], right[other])
