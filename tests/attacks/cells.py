"""Tables in the shape of real ones, and what is done to their cells and names."""

import datetime
from dataclasses import dataclass, field
from decimal import Decimal

FORMULAS = ["=1+1", '=HYPERLINK("http://example.org","x")', "+1+1", "-1 days +23:59:58", "@SUM(A1)", "\t=1", "'=1"]
MARKUP = [
    "<script>pwn()</script>",
    "<img src=x onerror=pwn()>",
    '"><svg onload=pwn()>',
    "' onmouseover='pwn()",
    "javascript:pwn()",
    "</script><script>pwn()</script>",
    "</style><iframe src=//example.org>",
    "<!--",
    "{{7*7}}",
    "&lt;b&amp;",
]
NUMBERS = ["NaN", "nan", "inf", "-inf", "1e400", "1e308", "-1e308", "1e-320", "-0", "0x10", "1_000", "١٢", "½", "1,5"]
NUMBERS += ["1.234,5", "12345678901234567890123", "1.5.3", "1e5", " 7 ", "+3", "5%", "€5", "TRUE", "#DIV/0!"]
MARKS = ["None", "null", "NA", "#N/A", "?", "-", "-1", "", " ", "\u00a0"]
QUOTES = [
    '"',
    '""',
    'a"b',
    "a,b",
    "a;b",
    "a|b",
    "a\tb",
    "line\nbreak",
    "line\r\nbreak",
    "\r",
    " lead",
    "trail ",
    "'",
    "\\",
]
STRANGE = [
    "\x1b[31mred",
    "\x1b]0;title\x07",
    "\u202eabc",
    "\ufeffmark",
    "\u2028",
    "\x07",
    "\x0b",
    "\x1a",
    "😀",
    "e\u0301",
]
STRANGE += [
    "ß",
    "İ",
    "_x0041_",
    "../../etc/passwd",
    "file:///etc/passwd",
    "%s%n",
    "[bold]x[/bold]",
    "a" * 400,
    "\u0085",
]
STRANGE += ["row_number", "given", "predicted", "no such file.png", "\x7f", "日本語のテキスト"]
DATES = ["2020-01-01", "31/12/1999", "0000-00-00", "9999-12-31 23:59:59", "2020-13-45", "1 Jan 20", "12:30", "1e9"]
HOSTILE = [*FORMULAS, *MARKUP, *NUMBERS, *MARKS, *QUOTES, *STRANGE, *DATES]
OBJECTS = [None, True, 7, -(2**70), 2.5, float("nan"), float("inf"), b"bytes", datetime.date(1850, 1, 1), "text"]
OBJECTS += [
    datetime.datetime(2020, 1, 1, 12),
    datetime.time(1, 2),
    datetime.timedelta(1),
    Decimal("1.10"),
    [1, 2],
    {"a": 1},
]


@dataclass
class Cells:
    """A table before any format, with names, columns of cells, and the column of labels."""

    names: list
    columns: list
    target: str
    done: list = field(default_factory=list)  # what was done to it, for the record

    @property
    def n(self):
        return len(self.columns[0]) if self.columns else 0

    def rows(self):
        return [list(row) for row in zip(*self.columns)]


def real_shaped(R):
    """Numbers, categories, dates and texts of two or three kinds of things, a few of them labeled."""
    n = R.choice([2, 3, 5, 8, 12, 20, 30, 40])
    kinds = [R.randrange(R.choice([2, 2, 3])) for _ in range(n)]
    words = [["soft", "round", "small"], ["hard", "flat", "long"], ["dark", "wet", "old"]]
    colors = [["red", "blue"], ["green", "blue"], ["white", "black"]]
    named = R.choice([["a", "b", "c"], ["1", "2", "3"], ["yes", "no", "maybe"], ["-1", "1", "0"], R.sample(HOSTILE, 3)])
    if R.random() < 0.1:
        labels = [f"{3 * kind + R.gauss(0, 0.3):.3f}" for kind in kinds]
    else:
        labels = [named[kind] for kind in kinds]
    share = R.choice([0.3, 0.5, 0.9, 1.0])
    day = datetime.date(2020, 1, 1)
    columns = {
        "id": [f"r{i:03d}" for i in range(n)],
        "size": [f"{2 * kind + R.gauss(0, 0.5):.3f}" for kind in kinds],
        "weight": [str(R.randrange(100) + 40 * kind) for kind in kinds],
        "color": [R.choice(colors[kind]) for kind in kinds],
        "when": [(day + datetime.timedelta(R.randrange(900))).isoformat() for _ in kinds],
        "note": [" ".join(R.choices(words[kind], k=R.randrange(1, 6))) for kind in kinds],
        "kind": [label if R.random() < share else "" for label in labels],
    }
    return Cells(list(columns), list(columns.values()), "kind")


def mutate(R, table):
    """One change of cells, columns or names."""
    change = R.choice(
        [_cells, _cells, _column, _constant, _empty, _names, _name, _labels, _rows, _objects, _typed, _drop]
    )
    if R.random() < 0.02:
        change = R.choice([_wide, _huge])
    change(R, table)
    table.done.append(change.__name__.strip("_"))


def _any(R, table):
    return R.randrange(len(table.columns)) if table.columns else None


def _cells(R, table):
    for _ in range(R.choice([1, 3, 10])):
        j = _any(R, table)
        if j is not None and table.n:
            table.columns[j][R.randrange(table.n)] = R.choice(HOSTILE)


def _column(R, table):
    j, pool = _any(R, table), R.choice([FORMULAS, MARKUP, NUMBERS, MARKS, QUOTES, STRANGE, DATES, HOSTILE])
    if j is not None:
        table.columns[j] = [R.choice(pool) for _ in range(table.n)]


def _constant(R, table):
    for j in range(len(table.columns)) if R.random() < 0.3 else [_any(R, table)]:
        if j is not None and table.names[j] != table.target:
            table.columns[j] = [R.choice(["x", "1", "0.0", "NaN", ""])] * table.n


def _empty(R, table):
    j = _any(R, table)
    if j is not None:
        table.columns[j] = [""] * table.n


def _names(R, table):
    for j, name in enumerate(table.names):
        if R.random() < 0.5:
            new = R.choice([*HOSTILE, "size", "kind", "kind.2", "column 2", ""])
            table.target = new if name == table.target and R.random() < 0.7 else table.target
            table.names[j] = new


def _name(R, table):
    j = _any(R, table)
    if j is None:
        return
    taken = ["kind_predicted", "kind_source", "kind_confidence", "kind_how", "component_1", "cluster", "novel", "Kind"]
    new = R.choice([*taken, "n" * 3000, "kind ", "suggested", table.names[0], "embedding"])
    table.target = new.strip() if table.names[j] == table.target and R.random() < 0.5 else table.target
    table.names[j] = new


def _labels(R, table):
    if table.target not in table.names:
        return
    j = table.names.index(table.target)
    rows = range(table.n)
    table.columns[j] = R.choice(
        [
            [""] * table.n,
            ["x"] * table.n,
            [f"c{i}" for i in rows],
            [R.choice(["a", "b"]) if i < 2 else "" for i in rows],
            [R.choice(["a;b", "a", "b", "c;a", ""]) for _ in rows],
            [R.choice([*HOSTILE, ""]) for _ in rows],
            [R.choice(["a", "A", " a", "a ", "b", ""]) for _ in rows],
            [R.choice(["1", "1.0", "01", "2", ""]) for _ in rows],
            [f"{R.gauss(0, 10 ** R.randrange(-5, 6)):.4g}" if R.random() < 0.6 else "" for _ in rows],
        ]
    )


def _rows(R, table):
    """Other numbers of rows, such as none, one, equal rows or some rows twice."""
    n = table.n
    chosen = R.choice([[], [0], [0] * 6, [*range(n), *range(n)], sorted(range(n), key=lambda _: R.random())])
    table.columns = [[column[i] for i in chosen if i < n] for column in table.columns]


def _objects(R, table):
    """A column of mixed types, if the format has types."""
    j = _any(R, table)
    if j is not None:
        pool = R.choice([OBJECTS, R.sample(OBJECTS, 2), [1, 2.5, None], [True, False, None], [1, "x"]])
        table.columns[j] = [R.choice(pool) for _ in range(table.n)]


def _typed(R, table):
    """Numbers as numbers, if the format has types."""
    for j, column in enumerate(table.columns):
        try:
            table.columns[j] = [None if cell == "" else float(cell) for cell in column]
        except (TypeError, ValueError, OverflowError):
            continue


def _drop(R, table):
    for _ in range(R.randrange(1, 6)):
        j = _any(R, table)
        if j is not None:
            del table.names[j], table.columns[j]


def _wide(R, table):
    """A thousand columns of three rows, or a hundred thousand. The time is proportional to their number."""
    table.columns = [column[:3] for column in table.columns]
    for j in range(100_000 if R.random() < 0.15 else 1000):
        table.names.append(f"x{j}")
        table.columns.append([str((i * j) % 7) for i in range(table.n)])


def _huge(R, table):
    """A cell of 2 MB."""
    j = _any(R, table)
    if j is not None and table.n:
        table.columns[j][0] = R.choice(["a", "ab ", "=", "1", "<b>", '"']) * 500_000
