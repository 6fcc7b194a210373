"""Options for reading a table, searching for a model and predicting."""

from dataclasses import dataclass
from pathlib import Path

from ..few_label.catalog import methods_of
from ..few_label.sizes import SIZES
from ..inputs.tables import TableEncoder
from ..inputs.tables.vectors import VECTORS
from ..types import Facts
from .usage import UsageError, did_you_mean


@dataclass(frozen=True)
class ReadOptions:
    """How the file, the columns and the labels of a table are read."""

    # the columns
    id: str | None = None  # names the rows
    ignore: list[str] | None = None
    include: list[str] | None = None  # features even if they distinguish labeled rows
    text: list[str] | None = None
    category: list[str] | None = None
    number: list[str] | None = None
    image: list[str] | None = None
    embed: list[str] | None = None  # columns, and files of vectors
    text_model: str | None = None  # "auto"
    image_model: str | None = None
    no_cache: bool | None = None  # keep no vectors next to the table
    # the labels
    kind: list[str] | None = None  # "number", "class" or COLUMN=number, the meaning of numbers in the target
    missing: list[str] | None = None  # marks of unlabeled cells
    more: list[Path] | None = None  # tables of rows that were labeled elsewhere
    hint: list[str] | None = None  # columns of guesses by other sources, which are not features
    labels: Path | None = None  # table of the labels, with
    key: str | None = None  # the column that names the rows
    links: Path | None = None  # table of links between the rows
    # the file
    delimiter: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    header: int | None = None  # line or row of column names, from 1
    table: str | None = None
    protect: bool = False

    @property
    def vectors(self) -> list[str]:
        """Files of vectors that belong to the table."""
        return [name for name in self.embed or [] if Path(name).suffix.lower() in VECTORS]

    @property
    def kinds(self) -> dict[str, list[str]]:
        """The columns that a user declared to be of each kind."""
        embed = [name for name in self.embed or [] if name not in self.vectors]
        kinds = {"text": self.text, "category": self.category, "number": self.number, "image": self.image}
        return {kind: names or [] for kind, names in kinds.items()} | {"embed": embed}

    @property
    def asked(self) -> list[str]:
        """All columns that a user declared to be of a kind."""
        return [name for kind, names in self.kinds.items() if kind != "embed" for name in names]

    @property
    def file(self) -> Facts:
        """Options of `read_table`."""
        delimiter = {"tab": "\t", "\\t": "\t"}.get(self.delimiter or "", self.delimiter)
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '\r\n\0"'):
            raise UsageError(f"--delimiter {delimiter!r} is not accepted. Give one character, or tab.")
        same = {name: getattr(self, name) for name in ("encoding", "sheet", "header", "table")}
        return {"delimiter": delimiter} | same

    def encoder(self, ignore: list[str], scale: str | bool = "auto") -> TableEncoder:
        """Return an encoder for a table that is read in this way, without the columns `ignore`."""
        models = {"text_model": self.text_model or "auto", "image_model": self.image_model or "auto"}
        return TableEncoder(**self.kinds, **models, ignore=ignore, include=self.include or (), scale=scale)


@dataclass(frozen=True)
class SearchOptions:
    """Which methods are tried, for how many seconds of one core, with which seed."""

    methods: str | list[str] = "auto"
    seconds: float = SIZES.seconds
    seed: int = 0


@dataclass(frozen=True)
class AnswerOptions:
    """Options of the predictions, such as probabilities, sets of classes or intervals of numbers."""

    abstain: float | None = None
    probabilities: bool = False
    coverage: float | None = None
    by_class: bool = False
    rank: str | None = None  # a class by whose probability the rows are ranked
    wrong_at_most: float | None = None  # largest fraction of wrong ones among the accepted predictions

    def check(self) -> None:
        """Refuse values that cannot be used."""
        value = self.abstain
        if value is not None and not 0 <= value < 1:
            hint = f" For {value:g}% give {value / 100:g}." if 10 < value < 100 else ""
            raise UsageError(
                f"--abstain {value:g} is not accepted. Give a confidence from 0 up to but not including 1.{hint}"
            )
        value = self.coverage
        if value is not None and not 0 < value < 1:
            hint = f". For {value:g}% give {value / 100:g}." if 1 < value < 100 else ", such as 0.9."
            raise UsageError(f"--coverage {value:g} is not accepted. Give a fraction between 0 and 1{hint}")
        rate = self.wrong_at_most
        if rate is not None and not 0 < rate < 1:
            hint = f". For {rate:g}% give {rate / 100:g}." if 1 <= rate < 100 else ", such as 0.05."
            raise UsageError(f"--wrong-at-most {rate:g} is not accepted. Give a fraction between 0 and 1{hint}")
        if self.by_class and value is None:
            raise UsageError("--by-class goes with --coverage, such as --coverage 0.9 --by-class.")


DEFAULTS = AnswerOptions()


def methods_named(words: str) -> str | list[str]:
    """Return the methods that --method names, as "auto", "all" or a list."""
    names = [name.strip().lower() for name in words.split(",")]
    alone = [name for name in names if name in ("auto", "all")]
    if alone and len(names) > 1:
        raise UsageError(f"--method {alone[0]} must be given alone, without other names.")
    for name in names:
        known = list(dict.fromkeys(["auto", "all", *methods_of("classes"), *methods_of("numbers")]))
        if name not in known:
            raise UsageError(f"There is no method {name!r}. {did_you_mean(name, known)}")
    return alone[0] if alone else names


def check_methods(methods: str | list[str], numeric: bool, target: str) -> None:
    """Refuse methods that are not for this kind of target."""
    known = methods_of("numbers" if numeric else "classes")
    for name in [] if isinstance(methods, str) else methods:
        if name not in known:
            what = "numbers" if numeric else "classes"
            raise UsageError(
                f"--method {name} is not for {what}, which {target!r} has. Accepted: auto, {', '.join(known)}."
            )
