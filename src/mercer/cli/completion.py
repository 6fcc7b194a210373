"""`mercer completion`: what completes commands and options in a shell, from the commands themselves.

The words are written into the script, so that completing starts no program.
"""

import re

from ..jobs.usage import UsageError
from .manual import entries

SHELLS = ("bash", "zsh", "fish")

_BASH = """\
# Completion of mercer {version} for bash.
_mercer() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} words
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{commands}"
  elif [[ $word == -* ]]; then
    case $command in
{cases}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -o bashdefault -F _mercer mercer
"""


def completion(screen, shell):
    """Print the script of a shell."""
    if shell not in SHELLS:
        raise UsageError(f"There is no completion for {shell!r}. Accepted: {', '.join(SHELLS)}.")
    screen.result |= {"shell": shell, "script": script(shell)}
    screen.say(screen.result["script"].rstrip("\n"))


def script(shell):
    """What the shell reads: see the function of its name."""
    import mercer

    first, *commands = entries()
    found = {entry.name.split()[-1]: entry for entry in commands}
    if shell == "fish":
        return "\n".join(_fish(first, found)) + "\n"
    cases = "\n".join(f'      {name}) words="{" ".join(_flags(entry))}" ;;' for name, entry in found.items())
    words = " ".join([*found, *_flags(first)])
    text = _BASH.format(version=mercer.__version__, commands=words, cases=cases)
    return text if shell == "bash" else f"autoload -U +X bashcompinit && bashcompinit\n{text}"


def _flags(entry):
    return [flag for flags, _ in entry.options for flag in re.findall(r"(?<![\w-])--?[a-z][\w-]*", flags)]


def _fish(first, commands):
    """One line for each command and option, with what it does."""
    yield "complete -c mercer -n __fish_use_subcommand -f"
    for name, entry in commands.items():
        yield f"complete -c mercer -n __fish_use_subcommand -a {name} -d {_quoted(entry.paragraphs[0])}"
    for condition, entry in [
        ("__fish_use_subcommand", first),
        *((f"'__fish_seen_subcommand_from {name}'", entry) for name, entry in commands.items()),
    ]:
        for flags, help in entry.options:
            names = re.findall(r"(?<![\w-])(--?)([a-z][\w-]*)", flags)
            if names:
                spelt = " ".join(f"{'-l' if dashes == '--' else '-s'} {name}" for dashes, name in names)
                takes = " -r" if re.search(r" [A-Z]", flags) else ""
                yield f"complete -c mercer -n {condition} {spelt}{takes} -d {_quoted(help)}"


def _quoted(text):
    return "'" + " ".join(text.split()).replace("\\", "\\\\").replace("'", "\\'") + "'"
