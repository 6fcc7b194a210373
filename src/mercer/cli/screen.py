"""What the user sees: results on standard output, everything else on standard error, one sentence per error."""

import importlib
import json
import math
import os
import sys
import time
import warnings
from contextlib import contextmanager

OK, FAULT, BAD_USAGE, BAD_DATA, STOPPED = 0, 1, 2, 3, 130


class UsageError(Exception):
    """The command itself is wrong: an unknown column, a file in the way."""


class Screen:
    """Says things the way the options --quiet and --json ask for."""

    def __init__(self, quiet=False, as_json=False):
        self.quiet, self.as_json = quiet, as_json
        self.result = {}
        self.notes = []

    def say(self, text):
        """A line of the result."""
        if not self.quiet and not self.as_json:
            print(text)

    def note(self, text):
        """Something the user should know: a column left out, a cell changed."""
        self.notes.append(text)
        if not self.quiet and not self.as_json:
            print(f"note: {text}", file=sys.stderr)

    def table(self, columns, rows, title=None):
        """A table of the result; plain text with tabs when the output is not a terminal."""
        if self.quiet or self.as_json:
            return
        if not sys.stdout.isatty():
            for row in [columns, *rows]:
                print("\t".join(str(cell) for cell in row))
            return
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(title=title, title_justify="left")
        for column in columns:
            table.add_column(column)
        for row in rows:  # Text, not str: brackets in the user's data are not markup
            table.add_row(*(Text(str(cell)) for cell in row))
        Console().print(table)

    @contextmanager
    def stages(self, total):
        """A progress bar over `total` stages; `stage(name)` begins the next one. Silent off a terminal."""
        begun = time.perf_counter()
        if self.quiet or self.as_json or not sys.stderr.isatty():
            yield lambda name: None
        else:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            columns = [SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()]
            with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
                task = progress.add_task("Starting", total=total)
                done = iter(range(total + 1))

                def stage(name):
                    progress.update(task, description=name, completed=next(done, total))

                yield stage
        self.result["seconds"] = round(time.perf_counter() - begun, 2)

    def finish(self):
        """Print the one JSON object of --json."""
        if self.as_json:
            if self.notes:
                self.result["notes"] = self.notes
            print(json.dumps(_plain(self.result), allow_nan=False, ensure_ascii=False))


def run(job, options):
    """Call the function named `module:function` with a screen and the options; turn errors into exit codes."""
    options = dict(options)
    debug = options.pop("debug", False)
    screen = Screen(options.pop("quiet", False), options.pop("as_json", False))
    module, _, function = job.partition(":")
    try:
        with _warnings_as_notes(screen, debug):
            getattr(importlib.import_module(f".{module}", __package__), function)(screen, **options)
        screen.finish()
        sys.stdout.flush()
    except KeyboardInterrupt:
        _leave("Stopped. Nothing was written.", STOPPED, debug)
    except BrokenPipeError:  # the reader of our output has gone, as in `mercer methods | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise SystemExit(OK) from None
    except (UsageError, FileExistsError, FileNotFoundError, PermissionError) as error:
        _leave(str(error), BAD_USAGE, debug)
    except MemoryError:
        _leave("The memory of this machine is not enough. Use fewer rows or columns.", BAD_DATA, debug)
    except Exception as error:
        from ..errors import BackendError, InputError, NotInductiveError

        if isinstance(error, InputError | BackendError | NotInductiveError):
            _leave(str(error), BAD_DATA, debug)
        _leave(f"This is a fault in mercer: {type(error).__name__}: {error}. Run again with --debug.", FAULT, debug)


def _leave(sentence, code, debug):
    if debug:
        raise
    print(f"mercer: {sentence}", file=sys.stderr)
    raise SystemExit(code)


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
def _warnings_as_notes(screen, debug):
    """Warnings meant for the user become notes, each once; those between libraries are not shown."""
    with warnings.catch_warnings():
        if not debug:
            warnings.simplefilter("ignore")
            warnings.simplefilter("default", UserWarning)
            said = set()

            def show(message, category, *rest, **more):
                if str(message) not in said:
                    said.add(str(message))
                    screen.note(str(message))

            warnings.showwarning = show
        yield
