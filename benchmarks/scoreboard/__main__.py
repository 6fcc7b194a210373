"""The scoreboard: mercer compared with the methods that a user would pick instead.

    python -m benchmarks.scoreboard --data DIR [--parts PART ...] [--threads 1] [--limit 6]     (make scoreboard)
    python -m benchmarks.scoreboard --quick [--store]                                            (make scoreboard-quick)
    python -m benchmarks.scoreboard --report

Parts: the races kernel_pca, nystroem, svdd, cmeans, ridge, few_label and label_search (time and peak memory against
the number of rows, up to the size at which a run exceeds --limit seconds), accuracy, correctness, profiles and threads.
Each part writes its rows to benchmarks/results/scoreboard_*.csv when it is done, and docs/scoreboard.md with its
pictures is written from those files at the end (--report: only that). --quick races every pair at one size and
compares the ratios with the stored ones; a fall by more than 30% is an error. --store stores them.
"""

import os
import sys
import time
import traceback

from benchmarks.harness import arguments, machine, markdown, thread_variables

PYTHON_PARTS = ("accuracy", "correctness", "profiles", "threads")


def main():
    options = arguments(
        __doc__,
        data="optional",
        threads=1,
        parts={"nargs": "*", "metavar": "PART", "help": "which parts (default all)"},
        limit={"type": float, "default": 6.0, "help": "seconds a run may take (default 6)"},
        store={"action": "store_true", "help": "with --quick: store the ratios as the reference"},
        report={"action": "store_true", "help": "only write docs/scoreboard.md from the CSV files"},
    )
    os.environ.update(thread_variables(options.threads))  # NumPy is not loaded yet: for this and every new process
    from .cases import CASES, PARTS

    unknown = set(options.parts or ()) - {*PARTS, *PYTHON_PARTS}
    if unknown:
        return f"No such part: {', '.join(sorted(unknown))}. There are {', '.join((*PARTS, *PYTHON_PARTS))}."
    if options.quick:
        return quick(options)
    failed = []
    for part in [] if options.report else options.parts or (*PARTS, *PYTHON_PARTS):
        start = time.perf_counter()
        print(f"== {part}", flush=True)
        try:
            if part in PARTS:
                races([case for case in CASES.values() if case.part == part], options)
            else:
                measure(part, options)
            note(part, options, machine(), time.perf_counter() - start)
        except Exception:  # the other parts are not to be lost
            traceback.print_exc()
            failed.append(part)
        print(f"== {part}: {time.perf_counter() - start:.0f} s", flush=True)
    from .report import write

    faults = write() + [f"the part {part} failed" for part in failed]
    print("\n".join(faults) or "Every row is ahead or has its reason.")
    return 1 if faults else 0


def races(cases, options):
    from .cases import PARTS
    from .ladder import climb
    from .tables import merge

    for case in cases:
        print(f" {case.title}", flush=True)
        rows = climb(case, options.threads, options.limit)
        merge("speed", rows, ("part", "case"), PARTS)


def measure(part, options):
    """The parts that are not races: each has a function of its name that returns rows."""
    from importlib import import_module

    from .tables import merge

    rows = getattr(import_module(f".{part}", __package__), part)(options)
    merge(
        part, rows, () if part == "profiles" else (next(iter(rows[0])),)
    )  # names of profiles contain counts: replace all


def note(part, options, line, seconds):
    from .ladder import r_version
    from .tables import merge

    facts = {"part": part, "machine": line, "threads": options.threads, "limit_s": options.limit}
    merge("machine", [{**facts, "r": r_version(), "minutes": f"{seconds / 60:.1f}"}], ("part",))


def quick(options):
    from .cases import CASES
    from .guard import compare, ratios
    from .ladder import climb
    from .tables import merge, read

    rows = []
    for case in CASES.values():
        rows += climb(case, options.threads, options.limit, sizes=(case.quick,))
    found = ratios(rows)
    if options.store:
        new = [{"case": case, "peer": peer, "ratio": f"{ratio:.4g}"} for (case, peer), ratio in found.items()]
        merge("reference", new, ("case", "peer"))
    stored = {(row["case"], row["peer"]): float(row["ratio"]) for row in read("reference")}
    lines, bad = compare(found, stored)
    print(markdown(lines))
    print("A ratio fell by more than 30%." if bad else "No ratio fell by more than 30%.")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
