"""Sentences on the columns of a table. One sentence is written for all columns to which the same applies."""

import re

_WORDING = {  # kind → words for one column | for several
    "constant": "{has|have} the same value in every row and {is|are} left out",
    "infinite": "{contains|contain} only numbers too large to use and {is|are} left out",
    "empty": "{is|are} empty and {is|are} left out",
    "comma": "{is|are} read with decimal commas",
    "points": "{is|are} read with points between thousands, so that 1.250 is 1250",
    "text": "{is|are} read as text, with words weighed by TF-IDF",
    "text model": "{is|are} read as text, by TF-IDF and the vectors of a sentence model "
    "(--text-model none leaves them out)",
    "strange": "{is|are} read without the sentence model, which does not know this script or language",
    "many texts": "{has|have} too many different texts for the sentence model to read in five minutes, so only TF-IDF "
    "is used (--text-model all-MiniLM-L6-v2 reads them)",
    "many images": "{has|have} too many images for the network to read in five minutes, so its vectors are left out "
    "(--image-model efficientnet-lite0 reads them)",
    "image model": "{is|are} read as images, by gray, gradients and colors, and by the vectors of a network "
    "(--image-model none leaves them out)",
    "embedding": "are read as {one embedding|embeddings}",
    "image": "{is|are} read as images, by gray, gradients and colors",
    "duplicate": "{adds|add} no information and {is|are} left out",
    "rare": "{has|have} rare values, which have no code of their own",
    "names": "{has|have} many values, which are read also by their words and characters",
    "date": "{is|are} read as dates",
    "mixed": "{is|are} read as dates in several formats",
    "time": "{is|are} read as times",
    "gaps": "{has|have} gaps, which take the median and are marked",
    "absent": "{is|are} not in this table and {counts|count} as missing in every row. The model uses the other columns",
    "unread": "{contains|contain} gaps or values that the model has not seen. The model uses the other columns of "
    "these rows",
    "outside": "{is|are} outside the range that the model was trained with (other units?)",
    "leak": "{distinguishes|distinguish} labeled rows from the others, as if filled in with the label, and "
    "{is|are} left out (--include uses {it|them})",
    "alone": "{has|have} no value that occurs three times, so nothing can be learned from {it|them}, and "
    "{is|are} left out",
    "mostly": "{is|are} different in nearly every row, like {an identifier|identifiers}, and "
    "{is|are} left out (--text uses {it|them})",
    "identifier": "{is|are} different in every row, like {an identifier|identifiers}, and "
    "{is|are} left out (--text uses {it|them})",
    "numbered": "{is|are} different in every row, like {an identifier|identifiers}, and "
    "{is|are} left out (--number uses {it|them})",
}


def sentences(notes) -> list:
    """Turn notes into sentences.

    Parameters
    ----------
    notes : list of whole sentences, and of (kind, column name, remark) with one of the kinds above.

    Examples
    --------
    >>> sentences([("gaps", "a", "3 cells"), "Column 'b' is new.", ("gaps", "c", "")])
    ["Columns 'a' (3 cells), 'c' have gaps, which take the median and are marked.", "Column 'b' is new."]
    """
    found: dict = {}
    for note in notes:
        kind = note if isinstance(note, str) else note[0]
        found.setdefault(kind, []).append(note)
    return [kind if kind not in _WORDING else _together(kind, same) for kind, same in found.items()]


def _together(kind, notes):
    shown, named = 5, [f"{name!r} ({remark})" if remark else repr(name) for _, name, remark in notes]
    rest = f" and {len(named) - shown} more" if len(named) > shown else ""
    words = re.sub(r"{(.*?)\|(.*?)}", r"\1" if len(named) == 1 else r"\2", _WORDING[kind])
    return f"Column{'' if len(named) == 1 else 's'} {', '.join(named[:shown])}{rest} {words}."


def cells_of(number: int) -> str:
    """ "1 cell", "7 cells"."""
    return f"{number} cell{'' if number == 1 else 's'}"
