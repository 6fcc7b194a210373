"""What a text file is: its encoding and its delimiter, found from its bytes."""

import codecs
import csv
import io
import itertools

from ....errors import InputError

DELIMITERS = (",", ";", "\t", "|")
SAMPLE_LINES = 200
_CONTROL = bytes(set(range(32)) - set(b"\t\n\r\f\v\x1a\x1b"))  # bytes that text does not hold
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_NO_ENCODINGS = ("idna", "punycode", "undefined")  # Python has them among its encodings, but files are not written so
_NOT_TEXT = (
    (b"PK\x03\x04", "a zip file or an Excel workbook", "Give it the ending .xlsx, or unpack it"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "In Excel choose File, Save as, CSV UTF-8"),
    (b"\x1f\x8b", "a gzip file", "Give it the ending .csv.gz"),
    (b"%PDF", "a PDF document", "Export the table as CSV"),
    (b"PAR1", "a Parquet file", "Give it the ending .parquet"),
)


def decode(raw, name, encoding=None):
    """(text, encoding) of the bytes of a text table.

    A byte-order mark decides; else UTF-8 if it fits; else Windows-1252, the Latin-1 of spreadsheets.
    """
    for start, what, remedy in _NOT_TEXT:
        if raw.startswith(start):
            raise InputError(f"{name} is {what}, not a text table. {remedy}.")
    found = encoding or next((code for mark, code in _BOMS if raw.startswith(mark)), None)
    sample = raw[:100_000]
    strange = len(sample) - len(sample.translate(None, _CONTROL))
    if found is None and (b"\0" in sample or (strange > 0.01 * len(sample) and not _is_utf8(sample))):
        raise InputError(
            f"{name} holds bytes that no text has, so it is no text table. Give it the ending of its format (.parquet, "
            ".npz, .xlsx, …), or save it as CSV."
        )
    for code in [found] if found else ["utf-8", "cp1252", "latin-1"]:
        try:
            if codecs.lookup(code).name in _NO_ENCODINGS:
                raise LookupError
            return raw.decode(code), code
        except UnicodeDecodeError as error:
            wrong = f"byte {error.start}"
        except LookupError:
            raise InputError(f"The encoding {code!r} is not known. Try utf-8, latin-1 or utf-16.") from None
    raise InputError(f"{name} is not valid {found} at {wrong}. Save the file as UTF-8, or give another --encoding.")


def _is_utf8(sample):
    """Whether bytes are UTF-8, the last character of which may be cut off: hardly any that are no text are."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def delimiter_of(text, usual=","):
    """The delimiter under which the first rows have the most columns, the same number in (nearly) every row."""
    best, best_score = usual, 0.0
    for delimiter in DELIMITERS:
        rows = csv.reader(io.StringIO(text[:500_000], newline=""), delimiter=delimiter)
        try:
            filled = (row for row in rows if len(row) > 1 or "".join(row).strip())
            widths = [len(row) for row in itertools.islice(filled, SAMPLE_LINES)]
        except csv.Error:
            continue
        if not widths or widths[0] < 2:
            continue
        same = sum(width == widths[0] for width in widths) / len(widths)
        # A decimal comma splits lines evenly too, but never in the header, which here sets the number of columns.
        score = same * (1 + widths[0] / (1 + widths[0]))
        if score > best_score + 1e-12:
            best, best_score = delimiter, score
    return best
