"""Numbers for messages and reports."""


def short(value: float, digits: int = 3) -> str:
    """A number in so many significant digits, without an exponent if it is large. Years have no comma.

    >>> short(55312.7), short(0.012345), short(-1234.5), short(7.0), short(2005.0, 6), short(55312.74, 6)
    ('55,300', '0.0123', '-1,230', '7', '2005', '55,312.7')
    """
    text = f"{value:.{digits}g}"
    large = 1e4 <= abs(value) < 1e15 or ("e+" in text and abs(value) < 1e15)
    return f"{float(text):,}".removesuffix(".0") if large else text
