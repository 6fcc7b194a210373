"""Show results on standard output, and events and errors on standard error. An error is one sentence."""

import importlib
import json
import math
import os
import re
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

from ..events import Event, Fact, Note, Progress, Stage
from ..jobs.usage import UsageError
from . import stopped


class Exit(IntEnum):
    """Exit codes of the command."""

    OK, FAULT, BAD_USAGE, BAD_DATA, STOPPED = 0, 1, 2, 3, 130


class Console:
    """Show events as the options --quiet and --json ask for. A console is an `on_event` function.

    Attributes
    ----------
    result : what --json prints. notes : all notes. doing : the current stage.
    """

    def __init__(self, quiet=False, as_json=False):
        self.quiet, self.as_json = quiet, as_json
        self.result = {}
        self.notes = []
        self.doing = "starting"  # for the sentence of an interrupt
        self._begin = self._end = 0.0  # fractions of the whole at which the stage begins and ends
        self._aside = False
        self._draw = _nothing

    def __call__(self, event: Event) -> None:
        """Show an event."""
        if isinstance(event, Note):
            self.note(event.text)
        elif isinstance(event, Fact):
            self.result[event.name] = event.value
        elif isinstance(event, Stage):
            self.doing, self._begin, self._end = event.text, self._end, event.end
            self._draw(event.text, self._begin, not event.counted)
        elif isinstance(event, Progress):
            self._draw(event.text, self._begin + event.fraction * (self._end - self._begin), False)

    def aside(self) -> None:
        """Print everything to standard error, because standard output is for the table."""
        if self.as_json:
            raise UsageError("--json and --out - both write to standard output. Give the table a file with --out.")
        self._aside = True

    @property
    def _stream(self):
        return sys.stderr if self._aside else sys.stdout

    def say(self, text: str) -> None:
        """Print lines of the result."""
        if not self.quiet and not self.as_json:
            print("\n".join(map(visible, text.split("\n"))), file=self._stream)

    def flush(self) -> None:
        """Show the user now what was printed."""
        self._stream.flush()

    def note(self, text: str) -> None:
        """Print what the user should know, such as a column left out or a cell changed."""
        self.notes.append(text)
        if not self.quiet and not self.as_json:
            print(f"note: {one_line(text)}", file=sys.stderr)

    def table(self, columns: list, rows: list) -> None:
        """Print a table of the result. It is plain text with tabs if the output is not a terminal."""
        if self.quiet or self.as_json:
            return
        if not self._stream.isatty():
            for row in [columns, *rows]:
                print("\t".join(one_line(" ".join(str(cell).split())) for cell in row), file=self._stream)
            return
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for column in columns:
            # A long word continues in the next line, so nothing is cut off
            table.add_column(Text(one_line(str(column))), overflow="fold")
        for row in rows:  # as Text, because brackets in the user's data are not markup
            table.add_row(*(Text(one_line(str(cell))) for cell in row))
        Console(stderr=self._aside).print(table)

    @contextmanager
    def stages(self) -> Iterator:
        """Show a progress bar for the stages within, which the function `stage` begins. It needs a terminal."""
        begun = time.perf_counter()
        if self.quiet or self.as_json or not sys.stderr.isatty():
            yield self.stage
        else:
            from rich.console import Console
            from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as ProgressBar
            from rich.table import Column

            words = TextColumn("{task.fields[text]}", markup=False, table_column=Column(no_wrap=True, ratio=1))

            class Bar(BarColumn):
                def render(self, task):
                    bar = super().render(task)
                    bar.pulse = task.fields["pulse"]
                    return bar

            columns = (Bar(20), TaskProgressColumn(), TimeElapsedColumn(), words)
            with ProgressBar(*columns, console=Console(stderr=True), transient=True, expand=True) as progress:
                task = progress.add_task("", total=1.0, text=self.doing, pulse=False)

                def draw(text, share, pulse):
                    progress.update(task, completed=share, text=text, pulse=pulse)

                self._draw = draw
                yield self.stage
        self.result["seconds"] = round(time.perf_counter() - begun, 2)

    def stage(self, name: str, end: float, counted: bool = True) -> None:
        """Begin a stage, see `mercer.events.Stage`."""
        self(Stage(name, end, counted))

    def finish(self):
        """Print the one JSON object of --json."""
        if self.as_json:
            if self.notes:
                self.result["notes"] = self.notes
            # Letters that the terminal does not have would be lost, so they are written as numbers there.
            plain = "utf" not in (sys.stdout.encoding or "").lower()
            print(json.dumps(_plain(self.result), allow_nan=False, ensure_ascii=plain))


def run(job: str, options: dict) -> None:
    """Call the function named `module:function` with a console and the options. Errors become exit codes."""
    options = dict(options)
    debug = options.pop("debug", False)
    console = Console(options.pop("quiet", False), options.pop("as_json", False))
    module, _, function = job.partition(":")
    try:
        with _warnings_as_notes(console, debug):
            getattr(importlib.import_module(f".{module}", __package__), function)(console, **options)
        console.finish()
        sys.stdout.flush()
    except KeyboardInterrupt:
        what = "What was written is complete" if "out" in console.result else "Nothing was written"
        leave(f"Stopped while {console.doing}. {what}.", Exit.STOPPED, debug)
    except BrokenPipeError:  # the reader of the output has gone, as in `mercer methods | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise SystemExit(Exit.OK) from None
    except UsageError as error:
        leave(str(error), Exit.BAD_USAGE, debug)
    except OSError as error:  # with a sentence of mercer, or that of the system with its number
        what = f"{error.filename}: {error.strerror}." if error.filename else f"Writing failed: {error.strerror}."
        leave(what if error.errno else str(error), Exit.BAD_USAGE, debug)
    except MemoryError:
        leave("The memory of this machine is not enough. Use fewer rows or columns.", Exit.BAD_DATA, debug)
    except Exception as error:
        if isinstance(error, ImportError) and stopped:  # compiled modules turn Ctrl-C into an error of their import
            leave(f"Stopped while {console.doing}. Nothing was written.", stopped[0], debug)
        from ..errors import BackendError, InputError, NotInductiveError

        if isinstance(error, InputError | BackendError | NotInductiveError):
            leave(str(error), Exit.BAD_DATA, debug)
        leave(f"This is a fault in mercer: {type(error).__name__}: {error}. Run again with --debug.", Exit.FAULT, debug)


def _nothing(text: str, fraction: float, pulse: bool) -> None:
    """Draw no bar."""


def leave(sentence: str, code: int, debug: bool = False) -> None:
    """Print what is wrong and end with an exit code."""
    if debug:
        traceback.print_exc()
    print(f"mercer: {one_line(sentence)}", file=sys.stderr)
    raise SystemExit(code)


def visible(text: str) -> str:
    """Return a text in which characters that a terminal would obey are replaced by their numbers.

    These are control characters, and marks that turn the direction of writing.
    """
    unseen = "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]"
    return re.sub(unseen, lambda found: f"\\x{ord(found[0]):02x}", text)


def one_line(text: str, whole: int = 0, longest: int = 300) -> str:
    """Return a sentence as one line. If names and cells make it too long it is cut, except the advice at its end.

    Parameters
    ----------
    whole : length up to which nothing is cut.
    longest : characters of a sentence, or of a cell, that is longer than `whole`.

    >>> one_line("There is no column " + 400 * "x" + ". Check the name.")
    'There is no column xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…xxxxxxxxxxxxxxxxx. Check the name.'
    """
    if len(visible(text)) <= whole:
        return visible(text)
    text = re.sub(r"(\S{60})\S{3,}(\S{18})", r"\1…\2", visible(text))
    if len(text) <= longest:
        return text
    end = text[-longest // 2 :].partition(". ")[2]
    return f"{text[: longest - len(end) - 2]}… {end}"


def to_copy(sentence: str, command: str) -> str:
    """Return a sentence and a command to copy, which is cut only if it is very long."""
    return f"{one_line(sentence)}\n{one_line(command, whole=600)}"


def _plain(value):
    """Return a result in the types of JSON, without arrays and paths. A number that is not finite becomes null."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


@contextmanager
def _warnings_as_notes(console: "Console", debug: bool) -> Iterator:
    """Show warnings meant for the user as notes, each once. Warnings between libraries are not shown."""
    with warnings.catch_warnings():
        if not debug:
            warnings.simplefilter("ignore")
            warnings.simplefilter("default", UserWarning)
            said = set()

            def show(message, category, *rest: object, **more: Any) -> None:
                if str(message) not in said:
                    said.add(str(message))
                    console.note(str(message))

            warnings.showwarning = show
        yield
