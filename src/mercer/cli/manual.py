"""The manual page and the page of the commands, from what `--help` shows."""

import re
from dataclasses import dataclass
from typing import Any

import typer
from typer.main import get_command

import mercer

from .app import app


@dataclass(frozen=True)
class Entry:
    """The name of a command, its usage, what it does, and (flags, help) of its arguments and options.

    A paragraph that begins with a backspace keeps its line breaks.
    """

    name: str
    usage: str
    paragraphs: list[str]
    options: list[tuple[str, str]]


def entries() -> list[Entry]:
    """Return the command itself, then every subcommand, in the order of the help."""
    root: Any = get_command(app)
    above = typer.Context(root, info_name="mercer", **root.context_settings)
    below = {name: typer.Context(one, parent=above, info_name=name) for name, one in root.commands.items()}
    return [_entry(root, above), *(_entry(root.commands[name], context) for name, context in below.items())]


def _entry(command, context):
    usage = " ".join(command.get_usage(context).removeprefix("Usage: ").split())
    records = [one.get_help_record(context) for one in command.get_params(context)]
    paragraphs = re.split(r"\n\s*\n", (command.help or "").replace("\b\n", "\b"))
    return Entry(
        context.command_path,
        usage,
        paragraphs,
        [(flags, " ".join(help.split())) for flags, help in filter(None, records)],
    )


def roff() -> str:
    """Return the manual page of `man mercer`."""
    first, *commands = entries()
    lines = [f'.TH MERCER 1 "" "mercer {mercer.__version__}" "User Commands"', ".SH NAME"]
    lines += [_escaped(f"mercer - {' '.join(first.paragraphs[0].split()).rstrip('.')}"), ".SH SYNOPSIS"]
    lines += [f".B {_escaped(first.usage)}", ".SH OPTIONS", *_roff_options(first), ".SH COMMANDS"]
    for entry in commands:
        lines += [f".SS {_escaped(entry.usage)}"]
        for paragraph in entry.paragraphs:
            kept = paragraph.startswith("\b")
            lines += [".PP", *([".nf"] if kept else []), *map(_escaped, paragraph.strip("\b").splitlines())]
            lines += [".fi"] if kept else []
        lines += _roff_options(entry)
    lines += [
        ".SH EXIT STATUS",
        "0: done. 1: a fault in mercer. 2: wrong usage. 3: data that cannot be used. 130: stopped.",
    ]
    return "\n".join(lines) + "\n"


def _roff_options(entry) -> list:
    return [line for flags, help in entry.options for line in (".TP", f"\\fB{_escaped(flags)}\\fR", _escaped(help))]


def _escaped(text: str):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text


def markdown() -> str:
    """Return the page of the documentation."""
    lines = [
        "# Commands",
        "",
        "`mercer --help` and `mercer COMMAND --help` show the same text as this page. `mercer man | man -l -` shows it",
    ]
    lines += ["as a manual page, `mercer --install-completion` completes commands and options in your shell.", ""]
    for entry in entries():
        lines += [f"## {entry.name}", "", "```text", entry.usage, "```", ""]
        for paragraph in entry.paragraphs:
            kept = paragraph.startswith("\b")
            text = paragraph.strip("\b")
            lines += ["```text", text, "```", ""] if kept else [text.replace("<", "&lt;"), ""]
        lines += ["| | |", "|---|---|"]
        lines += [f"| `{flags}` | {help.replace('|', chr(92) + '|')} |" for flags, help in entry.options] + [""]
    return "\n".join(lines)


def man(console) -> None:
    """Print the manual page."""
    console.result["page"] = roff()
    console.say(console.result["page"].rstrip("\n"))
