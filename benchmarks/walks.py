"""Count what a call passes on its way through mercer: functions, files, depth, checks of the rows, neighbor searches.

The counts are those of a profiler in this process, on the wine data that scikit-learn ships. Bodies of modules,
comprehensions and lambdas are not counted as functions. The depth is the largest number of mercer's functions on the
stack at one time. Files and depth are also counted for the rooms above the estimators alone, where a walk decides and
does not compute. `tests/test_architecture_walks.py` has the ceilings.

    python -m benchmarks.walks
    python -m benchmarks.walks --list fit   # each file that the walk passes, with its functions
"""

import argparse
import contextlib
import io
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import mercer

SOURCE = str(Path(mercer.__file__).parent)
UPPER = ("few_label", "advice", "evidence", "report", "jobs", "cli", "events.py")
SEARCH = ("graphs/neighbors.py", "searched")
COUNTED = {
    "check_rows": ("check_rows", "inputs/check.py"),
    "target read": ("read_target_as", "inputs/tables/target.py"),
    "table read": ("read_table", "inputs/tables/formats/__init__.py"),
}


@dataclass
class Walk:
    """Functions of mercer that a call passes.

    Attributes
    ----------
    calls : number of calls by (file below src/mercer, function).
    deepest : the functions that were on the stack when it was deepest, the outermost first.
    upper_deepest : the same of the rooms in `UPPER` alone.
    searches : neighbor searches for each view of the rows, in the order of the first ones.
    """

    calls: Counter = field(default_factory=Counter)
    deepest: list = field(default_factory=list)
    upper_deepest: list = field(default_factory=list)
    searched: dict = field(default_factory=dict)  # {identity of the rows of a view: [these rows, at each search]}

    @property
    def files(self) -> list[str]:
        return sorted({file for file, _ in self.calls})

    @property
    def upper(self) -> list[str]:
        """Files of the rooms above the estimators, where a walk decides and does not compute."""
        return [file for file in self.files if file.startswith(UPPER)]

    @property
    def searches(self) -> list[int]:
        return [len(views) for views in self.searched.values()]

    @property
    def depth(self) -> int:
        return len(self.deepest)

    def count(self, function: str, file: str = "") -> int:
        """Calls of a function, in one file or in all."""
        return sum(n for (where, name), n in self.calls.items() if name == function and where.startswith(file))


def walk(call: Callable[[], object]) -> Walk:
    """The functions of mercer that are passed while `call()` runs, threads that it starts included."""
    found, own = Walk(), threading.local()

    def seen(frame, event, _):
        code = frame.f_code
        if event not in ("call", "return") or code.co_name.startswith("<") or not code.co_filename.startswith(SOURCE):
            return
        stack = own.__dict__.setdefault("stack", [])
        name = (code.co_filename[len(SOURCE) + 1 :], code.co_name)
        if event == "call":
            stack.append(name)
            found.calls[name] += 1
            if name == SEARCH:
                rows = frame.f_locals["X"]
                found.searched.setdefault(id(rows), []).append(rows)
            if len(stack) > len(found.deepest):
                found.deepest = list(stack)
            above = [one for one in stack if one[0].startswith(UPPER)]
            if len(above) > len(found.upper_deepest):
                found.upper_deepest = above
        elif stack:
            stack.pop()

    threading.setprofile(seen)
    sys.setprofile(seen)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def rows_and_labels() -> tuple[np.ndarray, np.ndarray]:
    """The wine data, with four labels per class."""
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    labels = np.full(len(y), None, dtype=object)
    for name in range(3):
        labels[np.flatnonzero(y == name)[:4]] = f"wine {name}"
    return X, labels


def of_fit() -> Walk:
    """`FewLabelClassifier().fit(X, y)`."""
    X, y = rows_and_labels()
    mercer.FewLabelClassifier().fit(X, y)  # imports and compilation are not part of a walk
    return walk(lambda: mercer.FewLabelClassifier().fit(X, y))


def of_teach() -> Walk:
    """`teach` of one label."""
    X, y = rows_and_labels()
    model = mercer.FewLabelClassifier().fit(X, y)
    return walk(lambda: model.teach([20], "wine 0"))


def of_label() -> Walk:
    """`mercer label wine.csv --target kind`."""
    from mercer.cli.app import app

    X, y = rows_and_labels()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "wine.csv")
        lines = [",".join([*(f"v{i}" for i in range(X.shape[1])), "kind"])]
        lines += [",".join([*(f"{cell:g}" for cell in row), name or ""]) for row, name in zip(X, y)]
        table.write_text("\n".join(lines) + "\n")

        def call() -> None:
            out, err = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())
            with out, err, contextlib.suppress(SystemExit):  # the command ends the process
                app(["label", str(table), "--target", "kind", "--force"])

        call()  # imports and compilation are not part of a walk
        found = walk(call)
        if len(list(Path(folder).iterdir())) < 2:
            raise RuntimeError("mercer label wrote nothing.")
    return found


WALKS = {"fit": of_fit, "teach": of_teach, "label": of_label}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", choices=WALKS, help="list the files and functions of one walk")
    options = parser.parse_args()
    for name, make in WALKS.items():
        if options.list in (None, name):
            one = make()
            print(f"{name}: {len(one.calls)} functions in {len(one.files)} files, {one.depth} deep")
            print(f"  above the estimators: {len(one.upper)} files, {len(one.upper_deepest)} deep")
            counts = ", ".join(f"{what} {one.count(*where)}" for what, where in COUNTED.items())
            print(f"  {counts}, neighbor searches of each view {one.searches or 0}")
            if options.list:
                for file in one.files:
                    print(f"  {file}: " + ", ".join(f"{f} {n}" for (where, f), n in one.calls.items() if where == file))
                for what, stack in (("deepest", one.deepest), ("deepest above the estimators", one.upper_deepest)):
                    print(f"  {what}: " + " > ".join(f"{where}:{f}" for where, f in stack))


if __name__ == "__main__":
    main()
