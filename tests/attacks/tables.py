"""Attack the command with a mutated table in every format, every command and random options."""

import csv
import functools
import random
import re
import tempfile
from pathlib import Path

from typer.testing import CliRunner

from mercer.cli.app import app
from mercer.inputs.tables import read_table

from . import formats
from .bytes import bombs, damage
from .cells import mutate, real_shaped
from .commands import command
from .oracle import check_page, check_screen, check_table
from .watch import Watch

SHOWN = False
OLD = b"an older file, which must stay whole"
CODECS = ["utf-8"] * 6 + ["utf-8-sig", "utf-16", "latin-1", "cp1252"]


def attack(seed, folder):
    """One table, one command."""
    R = random.Random(seed)
    table = real_shaped(R)
    for _ in range(R.choice([0, 1, 1, 2, 4])):
        mutate(R, table)
    ending = R.choice(formats.ENDINGS)
    style = {"delimiter": "\t" if ".tsv" in ending else R.choice(",,,;\t|"), "encoding": R.choice(CODECS)}
    how = style | {
        "line": R.choice(["\n", "\n", "\r\n", "\r"]),
        "quoting": R.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    }
    data = folder / f"data{ending}"
    try:
        formats.write(data, table.names, table.columns, ending, **how)
    except formats.Unwritable:
        return "not written"
    damaged = R.random() < 0.25
    if damaged:
        data.write_bytes(damage(R, data.read_bytes()))
    elif R.random() < 0.03:
        data = data.rename(folder / f"data{R.choice(['.csv', '.xlsx', '.json', '.parquet', '', '.dat', '.npz'])}")
        damaged = True
    elif R.random() < 0.005:
        ending, raw = R.choice(bombs())
        data.unlink()
        data = folder / f"data{ending}"
        data.write_bytes(raw)
        damaged = True
    files = _Files(R, folder)
    name, options = command(R, [str(name).strip() for name in table.names], table.target, files.option)
    target = "kind" if name == "predict" else table.target
    out = None
    if name in ("label", "predict", "embed", "cluster", "novelty") or (
        name in ("suggest", "check") and R.random() < 0.4
    ):
        out = files.path(
            "out" + R.choice([ending, ending, ".csv", ".parquet", ".xlsx", ".json", ".npz", ".db", ".tsv"])
        )
        options += ["--out", str(out)]
    if files.old and R.random() < 0.7:
        options += ["--force"]
    protect = out is not None and R.random() < 0.1
    options += ["--protect"] if protect else []
    piped = ending in (".csv", ".tsv", ".txt") and not damaged and R.random() < 0.05
    arguments = [name, *([str(_model())] if name == "predict" else []), "-" if piped else str(data), *options]
    before = data.read_bytes()
    if SHOWN:
        print(table.done, how, "damaged" if damaged else "", arguments)
        print(before[:1000])
    with Watch(("socket.connect", "socket.getaddrinfo", "os.system", "os.exec")) as watch:
        done = CliRunner().invoke(app, arguments, input=before if piped else None)
    assert not watch.seen, f"the command did {watch.seen[:3]}"
    if SHOWN:
        print(done.exit_code, done.stdout[-3000:], done.stderr[-3000:])
    check_screen(done, options)
    assert data.read_bytes() == before, "the input was changed"
    files.check(done.exit_code, [data])
    if done.exit_code == 0 and out is not None:
        truth = _truth(table, data, ending, damaged, options)
        after = _output(out, _value(options, "--delimiter") if ending in formats.TEXT else None, truth[2])
        if not protect and truth[1]:
            check_table(truth[0], after, options, name, target.strip(), truth[3])
    innocent = not re.search(r"nan|inf", str(table.columns) + str(table.names), re.IGNORECASE) and not damaged
    for path in folder.glob("*.html"):
        if path.read_bytes() != OLD:
            check_page(path.read_text(encoding="utf-8"), innocent)
    return f"exit {done.exit_code}"


class _Files:
    """The files that a command may write, some of which are there already."""

    def __init__(self, R, folder):
        self.R, self.folder, self.old = R, folder, []
        self.asked = set()

    def path(self, name):
        path = self.folder / name
        self.asked.add(path)
        if self.R.random() < 0.2:
            path.write_bytes(OLD)
            self.old.append(path)
        return path

    def option(self, flag, chance):
        endings = {"--report": "report.html", "--save": "model.mercer", "--only": "only.csv"}
        return [flag, str(self.path(endings[flag]))] if self.R.random() < chance else []

    def check(self, code, others):
        """Each file that was there is as it was or wholly new, and no other file came."""
        there = set(self.folder.iterdir())
        assert there <= self.asked | set(others), f"left behind: {sorted(there - self.asked - set(others))}"
        for path in self.old:
            if code != 0:
                assert path.read_bytes() == OLD, f"{path.name} was changed though the command failed"
        for path in self.asked - set(self.old):
            assert code == 0 or not path.exists(), f"{path.name} was written though the command failed"


def _truth(table, data, ending, damaged, options):
    """((names, columns), whether they can be compared, encoding, unique names): by others' readers, or mercer's own."""
    read = {"delimiter": _value(options, "--delimiter"), "encoding": _value(options, "--encoding")}
    if damaged or any(read.values()):
        own = read_table(data, **{k: {"tab": "\t", "\\t": "\t"}.get(v, v) for k, v in read.items() if v})
        frame = own.frame
        cells = [frame.iloc[:, j].tolist() for j in range(frame.shape[1])]
        return (own.names, cells), not own.protect, own.encoding, list(frame.columns)
    own = read_table(data)
    if ending in formats.TEXT:
        columns = [["" if cell is None else str(cell) for cell in column] for column in table.columns]
        return (table.names, columns), not own.protect, own.encoding, list(own.frame.columns)
    names, columns = formats.read(data, ending)
    return (names, columns), True, "utf-8", list(own.frame.columns)


def _value(options, flag):
    return options[options.index(flag) + 1] if flag in options else None


def _output(path, delimiter, encoding):
    """(names, columns) of an output; delimiter : one given for a text table, which is used again unless it is a tab."""
    ending = (
        ".csv.gz"
        if path.name.endswith(".csv.gz")
        else "".join(path.suffixes[-2:] if path.name.count(".") > 1 else path.suffixes)
    )
    if ending not in formats.TEXT:
        return formats.read(path, ending)
    known = delimiter and delimiter not in ("tab", "\\t", "\t") and ".tsv" not in ending
    own = read_table(path, **({"delimiter": delimiter} if known else {}))
    return formats.read(path, ending, own.delimiter, encoding)


@functools.cache
def _model():
    """A model of the columns that most tables have."""
    folder = Path(tempfile.mkdtemp(prefix="attacks"))
    R = random.Random(1)
    table = real_shaped(R)
    while table.n < 30 or len(set(table.columns[-1])) != 3 or "a" not in table.columns[-1]:
        table = real_shaped(R)
    formats.write(folder / "train.csv", table.names, table.columns, ".csv")
    options = ["-t", "kind", "-m", "rls", "--save", str(folder / "m.mercer")]
    done = CliRunner().invoke(app, ["label", str(folder / "train.csv"), *options])
    assert done.exit_code == 0, done.output
    return folder / "m.mercer"
