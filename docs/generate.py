"""Write docs/methods.md from the classes themselves: what each does, how it reads the rows, where it runs.

    python docs/generate.py

`tests/test_docs.py` fails when the page is older than the code.
"""

import inspect
from pathlib import Path

import mercer

WHERE = {
    "moments": ("one pass, then a small problem", "NumPy, torch, Dask"),
    "sweeps": ("several passes", "NumPy, torch, Dask"),
    "rows": ("row by row on the host", "NumPy, torch"),
}
PAGE = Path(__file__).parent / "methods.md"


def table():
    """The page as text."""
    lines = ["# Methods", "", "Made by `python docs/generate.py` from the classes.", ""]
    lines += ["| class | what it does | how it reads the rows | runs on |", "|---|---|---|---|"]
    for name in mercer.__all__:
        thing = getattr(mercer, name)
        rooms = ("mercer.estimators", "mercer.few_label")
        if inspect.isclass(thing) and hasattr(thing, "fit") and thing.__module__.startswith(rooms):
            how, where = WHERE.get(getattr(thing, "access", ""), ("as the methods it chooses from", "NumPy"))
            lines.append(f"| `{name}` | {inspect.getdoc(thing).splitlines()[0]} | {how} | {where} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(table())
    print(f"wrote {PAGE}")
