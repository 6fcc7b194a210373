"""Show events and results: results on standard output, everything else on standard error, one sentence per error."""

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
from typing import Any

from ..events import Event, Fact, Note, Progress, Stage
from ..jobs.usage import UsageError
from . import stopped

OK, FAULT, BAD_USAGE, BAD_DATA, STOPPED = 0, 1, 2, 3, 130
LONGEST = 300  # characters of a sentence, and of a cell
_LONG_WORD = re.compile(r"(\S{60})\S{3,}(\S{18})")
# What a terminal would obey rather than show: control characters, and marks that turn the direction of writing.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")


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
        self._begin = self._end = 0.0  # fractions of the whole between which the stage lies
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
        """Say everything on standard error: standard output is for the table."""
        if self.as_json:
            raise UsageError("--json and --out - both write to standard output. Give the table a file with --out.")
        self._aside = True

    @property
    def _stream(self):
        return sys.stderr if self._aside else sys.stdout

    def say(self, text: str) -> None:
        """Lines of the result."""
        if not self.quiet and not self.as_json:
            print("\n".join(map(visible, text.split("\n"))), file=self._stream)

    def flush(self) -> None:
        """Let the user see now what was said."""
        self._stream.flush()

    def note(self, text: str) -> None:
        """Something the user should know: a column left out, a cell changed."""
        self.notes.append(text)
        if not self.quiet and not self.as_json:
            print(f"note: {one_line(text)}", file=sys.stderr)

    def table(self, columns: list, rows: list) -> None:
        """A table of the result. Plain text with tabs when the output is not a terminal."""
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
            table.add_column(
                Text(one_line(str(column))), overflow="fold"
            )  # a long word goes on in the next line: nothing is cut off
        for row in rows:  # Text, not str: brackets in the user's data are not markup
            table.add_row(*(Text(one_line(str(cell))) for cell in row))
        Console(stderr=self._aside).print(table)

    @contextmanager
    def stages(self) -> Iterator:
        """Show a progress bar for the stages within, which the function `stage` begins; no bar off a terminal."""
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
    """Call the function named `module:function` with a console and the options; turn errors into exit codes."""
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
        what = "what was written is complete" if "out" in console.result else "nothing was written"
        leave(f"Stopped while {console.doing}; {what}.", STOPPED, debug)
    except BrokenPipeError:  # the reader of our output has gone, as in `mercer methods | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise SystemExit(OK) from None
    except UsageError as error:
        leave(str(error), BAD_USAGE, debug)
    except OSError as error:  # with a sentence of ours, or one of the system's with its number
        what = f"{error.filename}: {error.strerror}." if error.filename else f"Writing failed: {error.strerror}."
        leave(what if error.errno else str(error), BAD_USAGE, debug)
    except MemoryError:
        leave("The memory of this machine is not enough. Use fewer rows or columns.", BAD_DATA, debug)
    except Exception as error:
        if isinstance(error, ImportError) and stopped:  # compiled modules turn Ctrl-C into an error of their import
            leave(f"Stopped while {console.doing}; nothing was written.", stopped[0], debug)
        from ..errors import BackendError, InputError, NotInductiveError

        if isinstance(error, InputError | BackendError | NotInductiveError):
            leave(str(error), BAD_DATA, debug)
        leave(f"This is a fault in mercer: {type(error).__name__}: {error}. Run again with --debug.", FAULT, debug)


def _nothing(text: str, fraction: float, pulse: bool) -> None:
    """Draw no bar."""


def leave(sentence: str, code: int, debug: bool = False) -> None:
    """Say what is wrong and end with an exit code."""
    if debug:
        traceback.print_exc()
    print(f"mercer: {one_line(sentence)}", file=sys.stderr)
    raise SystemExit(code)


def visible(text: str) -> str:
    """Text without what a terminal would obey: such characters by their numbers."""
    return _UNSEEN.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def one_line(text: str, whole: int = 0) -> str:
    """A sentence as one line: where users' names and cells make it too long it is cut, but for the advice at its end.

    whole : length up to which nothing is cut, as of a command that is to be copied.

    >>> one_line("There is no column " + 400 * "x" + ". Check the name.")
    'There is no column xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…xxxxxxxxxxxxxxxxx. Check the name.'
    """
    if len(visible(text)) <= whole:
        return visible(text)
    text = _LONG_WORD.sub(r"\1…\2", visible(text))
    if len(text) <= LONGEST:
        return text
    end = text[-LONGEST // 2 :].partition(". ")[2]
    return f"{text[: LONGEST - len(end) - 2]}… {end}"


def _plain(value):
    """A result as JSON has it: no arrays, no paths, and null where there is no number."""
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
    """Warnings meant for the user become notes, each once. Those between libraries are not shown."""
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
