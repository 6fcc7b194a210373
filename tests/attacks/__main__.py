"""Attack mercer by `python -m attacks tables models calls --n 10000 --jobs 2`. `--only SEED` shows one attack."""

import argparse
import importlib
import tempfile
from pathlib import Path

from .pool import attack

KINDS = ("tables", "models", "calls")


def main():
    parser = argparse.ArgumentParser(prog="python -m attacks", description=__doc__)
    parser.add_argument("kinds", nargs="*", default=KINDS, metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--n", type=int, default=300, help="attacks of each kind")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    parser.add_argument("--only", type=int, metavar="SEED", help="run this one here and show what it does")
    parser.add_argument("--out", type=Path, help="page to write the result to")
    options = parser.parse_args()
    if options.only is not None:
        return _show(options.kinds[0], options.only)
    tallies = []
    for kind in options.kinds:
        seeds = range(options.seed, options.seed + options.n)
        tallies.append(attack(kind, seeds, options.jobs, told=_tell))
        print(f"{kind}: {_sentence(tallies[-1])}", flush=True)
        if options.out:
            options.out.write_text(page(tallies, options.seed), encoding="utf-8")
    raise SystemExit(any(tally.failures for tally in tallies))


def page(tallies, seed):
    """The result page."""
    lines = ["# Attacks", "", "Written by `make attack`; see tests/attacks/ and SECURITY.md.", ""]
    lines += ["| kind | seeds | tried | failed | how they ended | minutes |", "|---|---|---|---|---|---|"]
    for one in tallies:
        ends = ", ".join(f"{name}: {count}" for name, count in one.outcomes.most_common())
        span = f"{seed} to {seed + one.tried - 1}"
        lines.append(f"| {one.kind} | {span} | {one.tried} | {len(one.failures)} | {ends} | {one.seconds / 60:.0f} |")
    return "\n".join([*lines, ""])


def _sentence(tally):
    ends = ", ".join(f"{name}: {count}" for name, count in tally.outcomes.most_common())
    return f"{tally.tried} tried in {tally.seconds:.0f} s, {len(tally.failures)} failed ({ends})"


def _tell(seed, fault):
    print(f"--- seed {seed}: {fault}", flush=True)


def _show(kind, seed):
    module = importlib.import_module(f"attacks.{kind}")
    with tempfile.TemporaryDirectory() as folder:
        module.SHOWN = True
        print(module.attack(seed, Path(folder)))


if __name__ == "__main__":
    main()
