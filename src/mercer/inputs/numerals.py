"""Numbers as people write them."""


def short(value: float, digits: int = 3) -> str:
    """A number in so many significant digits, without an exponent if it is large.

    >>> short(55312.7), short(0.012345), short(-1234.5), short(7.0)
    ('55,300', '0.0123', '-1,230', '7')
    """
    text = f"{value:.{digits}g}"
    return f"{float(text):,.0f}" if "e+" in text and abs(value) < 1e15 else text
