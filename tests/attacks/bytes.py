"""Damage to files, byte by byte and line by line."""

import functools
import gzip
import io
import lzma
import zipfile


def damage(R, raw):
    """Some bytes changed, lost, doubled or put in."""
    for _ in range(R.choice([1, 1, 2, 5])):
        raw = R.choice([_flip, _cut, _lose, _double, _put, _ragged, _quote])(R, raw)
    return raw


def _place(R, raw):
    return R.randrange(len(raw)) if raw else 0


def _flip(R, raw):
    if not raw:
        return raw
    i = _place(R, raw)
    return raw[:i] + bytes([raw[i] ^ (1 << R.randrange(8))]) + raw[i + 1 :]


def _cut(R, raw):
    return raw[: _place(R, raw)]


def _lose(R, raw):
    i = _place(R, raw)
    return raw[:i] + raw[i + R.choice([1, 4, 40]) :]


def _double(R, raw):
    i = _place(R, raw)
    return raw[:i] + raw[i : i + R.choice([1, 40, 400])] + raw[i:]


def _put(R, raw):
    i = R.choice([0, _place(R, raw), len(raw)])
    what = R.choice(
        [
            b"\0",
            b"\xef\xbb\xbf",
            b"\xff\xfe",
            b"\r",
            b"\n\n",
            b"\x1a",
            b"\xff",
            b"sep=;\n",
            b"# note\n",
            b"\xed\xa0\x80",
        ]
    )
    return raw[:i] + what + raw[i:]


def _ragged(R, raw):
    """A line with more or fewer cells."""
    lines = raw.split(b"\n")
    i = R.randrange(len(lines))
    lines[i] = R.choice([lines[i] + b",x,y", lines[i].rpartition(b",")[0], b"", b" ", b",,,"])
    return b"\n".join(lines)


def _quote(R, raw):
    i = _place(R, raw)
    return raw[:i] + R.choice([b'"', b'"""', b',"', b'",']) + raw[i:]


@functools.cache
def bombs():
    """(ending, bytes) of small files that unpack to much, or are nested very deeply."""
    zeros, book = bytes(100_000_000), io.BytesIO()
    with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/workbook.xml", zeros)
        file.writestr("x.npy", zeros)
    found = [(".json", b"[" * 100_000), (".jsonl", b'{"a":' * 100_000), (".csv.gz", gzip.compress(zeros))]
    return [*found, (".csv.xz", lzma.compress(zeros)), (".xlsx", book.getvalue()), (".npz", book.getvalue())]
