"""Sentences on the columns of a table: what is said of many columns is said once."""

SHOWN = 5
_SAID = {  # kind → what is said of one column, and of several
    "constant": (
        "has the same value in every row and is left out",
        "have the same value in every row and are left out",
    ),
    "infinite": ("holds only numbers too large to use and is left out", "hold only numbers too large to use: left out"),
    "empty": ("is empty and is left out", "are empty and are left out"),
    "comma": ("is read with decimal commas", "are read with decimal commas"),
    "text": ("is read as text: words weighed by TF-IDF", "are read as text: words weighed by TF-IDF"),
    "embedding": ("are read as one embedding", "are read as embeddings"),
    "image": ("is read as images: grey, gradients and colours", "are read as images: grey, gradients and colours"),
    "duplicate": ("says nothing new and is left out", "say nothing new and are left out"),
    "rare": ("has rare values, which share one code", "have rare values, which share one code"),
    "date": ("is read as dates", "are read as dates"),
    "gaps": ("has gaps, which take the median and are marked", "have gaps, which take the median and are marked"),
    "absent": (
        "is not in this table and counts as missing in every row; the model goes by the other columns",
        "are not in this table and count as missing in every row; the model goes by the other columns",
    ),
    "unread": (
        "holds gaps or values that the model has not seen; there it goes by the other columns",
        "hold gaps or values that the model has not seen; there it goes by the other columns",
    ),
    "outside": (
        "lies outside the range that the model was trained with (other units?)",
        "lie outside the range that the model was trained with (other units?)",
    ),
    "leak": (
        "tells labelled rows from the others, as if filled in with the label: left out (--include uses it)",
        "tell labelled rows from the others, as if filled in with the label: left out (--include uses them)",
    ),
    "alone": (
        "has no value that occurs three times, so nothing can be learnt from it: left out",
        "have no value that occurs three times, so nothing can be learnt from them: left out",
    ),
    "identifier": (
        "is different in every row, like an identifier: left out (--number or --category uses it)",
        "are different in every row, like identifiers: left out (--number or --category uses them)",
    ),
}


def sentences(notes):
    """Turn notes into sentences.

    Parameters
    ----------
    notes : list of whole sentences, and of (kind, column name, remark) where the kind is one of those above.

    Examples
    --------
    >>> sentences([("gaps", "a", "3 cells"), "Column 'b' is odd.", ("gaps", "c", "")])
    ["Columns 'a' (3 cells), 'c' have gaps, which take the median and are marked.", "Column 'b' is odd."]
    """
    found: dict = {}
    for note in notes:
        kind = note if isinstance(note, str) else note[0]
        found.setdefault(kind, []).append(note)
    return [kind if kind not in _SAID else _together(kind, same) for kind, same in found.items()]


def _together(kind, notes):
    named = [f"{name!r} ({remark})" if remark else repr(name) for _, name, remark in notes]
    rest = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
    one, several = _SAID[kind]
    start = f"Column {named[0]} {one}" if len(named) == 1 else f"Columns {', '.join(named[:SHOWN])}{rest} {several}"
    return f"{start}."


def cells_of(number):
    """ "1 cell", "7 cells"."""
    return f"{number} cell{'' if number == 1 else 's'}"
