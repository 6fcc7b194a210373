"""Write docs/methods.md from the classes themselves: what each does, how it reads the rows, where it runs.

    python docs/generate.py

`tests/test_docs.py` fails when the page is older than the code.
"""

import inspect
from pathlib import Path

import mercer

READS = {
    "moments": "one pass, then a small problem",
    "sweeps": "several passes",
    "rows": "row by row on the host",
    "graph": "one graph of all rows",
}
ON_DASK = {"moments": ", Dask (at most two passes)", "sample": ", Dask (one pass, for a sample)"}
PAGE = Path(__file__).parent / "methods.md"


def table():
    """The page as text."""
    lines = ["# Methods", "", "Made by `python docs/generate.py` from the classes.", ""]
    lines += ["| class | what it does | how it reads the rows | runs on |", "|---|---|---|---|"]
    for name in mercer.__all__:
        thing = getattr(mercer, name)
        rooms = ("mercer.estimators", "mercer.few_label")
        if inspect.isclass(thing) and hasattr(thing, "fit") and thing.__module__.startswith(rooms):
            how = READS.get(getattr(thing, "access", ""), "as the methods it chooses from")
            where = ("NumPy, torch" if hasattr(thing, "access") else "NumPy") + ON_DASK.get(thing.on_dask, "")
            lines.append(f"| `{name}` | {inspect.getdoc(thing).splitlines()[0]} | {how} | {where} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(table())
    print(f"wrote {PAGE}")
