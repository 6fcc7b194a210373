"""Sentences on the columns of a table: what is said of many columns is said once."""

import re

SHOWN = 5
_SAID = {  # kind → what is said of one column | of several
    "constant": "{has|have} the same value in every row and {is|are} left out",
    "infinite": "{holds|hold} only numbers too large to use{ and is|:} left out",
    "empty": "{is|are} empty and {is|are} left out",
    "comma": "{is|are} read with decimal commas",
    "points": "{is|are} read with points between thousands, so that 1.250 is 1250",
    "text": "{is|are} read as text: words weighed by TF-IDF",
    "text model": "{is|are} read as text: TF-IDF, and the vectors of a sentence model "
    "(--text-model none leaves them out)",
    "strange": "{is|are} read without the sentence model, which does not know this script or language",
    "many texts": "{has|have} too many different texts for the sentence model to read in five minutes: TF-IDF alone "
    "(--text-model all-MiniLM-L6-v2 reads them)",
    "many images": "{has|have} too many images for the network to read in five minutes: its vectors are left out "
    "(--image-model efficientnet-lite0 reads them)",
    "image model": "{is|are} read as images: gray, gradients and colors, and the vectors of a network "
    "(--image-model none leaves them out)",
    "embedding": "are read as {one embedding|embeddings}",
    "image": "{is|are} read as images: gray, gradients and colors",
    "duplicate": "{says|say} nothing new and {is|are} left out",
    "rare": "{has|have} rare values, which share one code",
    "names": "{has|have} many values, which are read also by their words and characters",
    "date": "{is|are} read as dates",
    "mixed": "{is|are} read as dates in several formats",
    "time": "{is|are} read as times",
    "gaps": "{has|have} gaps, which take the median and are marked",
    "absent": "{is|are} not in this table and {counts|count} as missing in every row; "
    "the model goes by the other columns",
    "unread": "{holds|hold} gaps or values that the model has not seen; there it goes by the other columns",
    "outside": "{lies|lie} outside the range that the model was trained with (other units?)",
    "leak": "{tells|tell} labeled rows from the others, as if filled in with the label: "
    "left out (--include uses {it|them})",
    "alone": "{has|have} no value that occurs three times, so nothing can be learned from {it|them}: left out",
    "mostly": "{is|are} different in nearly every row, like {an identifier|identifiers}: "
    "left out (--text uses {it|them})",
    "identifier": "{is|are} different in every row, like {an identifier|identifiers}: left out (--text uses {it|them})",
    "numbered": "{is|are} different in every row, like {an identifier|identifiers}: left out (--number uses {it|them})",
}


def sentences(notes) -> list:
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
    said = re.sub(r"{(.*?)\|(.*?)}", r"\1" if len(named) == 1 else r"\2", _SAID[kind])
    return f"Column{'' if len(named) == 1 else 's'} {', '.join(named[:SHOWN])}{rest} {said}."


def cells_of(number: int) -> str:
    """ "1 cell", "7 cells"."""
    return f"{number} cell{'' if number == 1 else 's'}"
