"""Errors in a command as it was typed, each in one sentence of its own instead of the parser's."""

import difflib
import math
import os
import re
import sys
from collections.abc import Callable

import typer
from typer.core import TyperGroup

from ..jobs.usage import UsageError, did_you_mean
from .console import Exit, leave

# The base class of all errors of the parser. Its module depends on the version of typer.
_PARSER_ERROR: type[Exception] = typer.BadParameter.__mro__[2]


class Commands(TyperGroup):
    """The commands. `mercer` alone and `mercer help` show the help."""

    def main(self, args=None, *_, **__):
        args = list(sys.argv[1:] if args is None else args)
        if args[:1] in ([], ["help"]):
            args = [*args[1:], "--help"]
        try:
            code = super().main(args, prog_name="mercer", standalone_mode=False)
        except UsageError as error:
            leave(str(error), Exit.BAD_USAGE)
        except _PARSER_ERROR as error:
            leave(sentence(error), Exit.BAD_USAGE)
        except typer.Abort:
            raise SystemExit(Exit.STOPPED) from None
        raise SystemExit(code if isinstance(code, int) else 0)

    def resolve_command(self, ctx, args: list) -> tuple:
        names = self.list_commands(ctx)
        if args[0] not in names:
            raise UsageError(f"There is no command {args[0]!r}. {did_you_mean(args[0], names)}")
        return super().resolve_command(ctx, args)


def sentence(error) -> str:
    """Return the parser's error as one sentence with what is wrong and what is accepted."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "mercer"
    command = path.split()[-1]
    kind, option = type(error).__name__, getattr(error, "option_name", None)
    if kind == "NoSuchOption":
        names = [name for p in context.command.params for name in p.opts if name.startswith("--")] if context else []
        close = difflib.get_close_matches(option, names, n=1)
        hint = f"Did you mean {close[0]}?" if close else f"`{path} --help` lists those there are."
        return f"{command} has no option {option}. {hint}"
    if kind == "MissingParameter":
        return f"{command} needs {_shown(error.param)}."
    if kind == "BadOptionUsage":
        takes = "takes no value" if "not take" in error.format_message() else "needs a value after it"
        return f"{option} {takes}. `mercer COMMAND --help` explains the options."
    extra = re.search(r"extra argument\S* \((.*)\)$", error.format_message())
    if extra:
        return f"{command} does not know what {extra[1]!r} is for. A name with spaces needs quotes around it."
    return f"{error.format_message().rstrip('.')}. See `{path} --help`."


def _shown(parameter) -> str:
    """Return the name of an option or argument, and its help."""
    value = parameter.metavar or ""
    name = value if parameter.param_type_name == "argument" else f"{max(parameter.opts, key=len)} {value}"
    return f"{name.strip()} ({(getattr(parameter, 'help', None) or '').rstrip('.')})"


def number(option: str, low: float = -math.inf, high: float = math.inf, whole: bool = False) -> Callable:
    """Return a function that reads the value of an option as a number, and raises an error for other values."""
    what = "a whole number" if whole else "a number"
    if high < math.inf:
        what += f" from {low} to {high}"
    elif low > -math.inf:
        what += f" of at least {low}"

    def read(text: float | str) -> float:
        try:
            value = int(text) if whole else float(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise UsageError(f"{option} {text} is not accepted. Give {what}.")
        return value

    return read


def placed(job: str, options: dict) -> str:
    """Return the job, or the one of the same name for a folder of tables. Other jobs lose the options for folders."""
    keyed = ("labels", "key")
    where = options.get("new") or options.get("data")
    only = {name: options.pop(name) for name in ("scheduler", "workers", *keyed) if name in options}
    if "scheduler" in only and where is not None and os.path.isdir(where):
        from ..jobs.parts import parts_in

        if parts_in(where):
            options |= only
            return f"folders:{job.partition(':')[2]}"
    options |= {name: only.pop(name) for name in keyed if name in only}
    given = next((name for name, value in only.items() if value is not None), None)
    if given is not None:
        raise UsageError(f"--{given} is for a folder of tables, and {where} is not one. Leave it out.")
    return job
