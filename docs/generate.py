"""Make pages from the code itself: docs/methods.md, and for the site the API reference and the commands.

    python docs/generate.py

writes docs/methods.md, what each method does, how it reads the rows and where it runs; `tests/test_docs.py` fails when
the page is older than the code. `docs/build.py` makes the others each time.
"""

import inspect
from importlib import import_module
from pathlib import Path

import mercer
import mercer.plots

READS = {
    "moments": "one pass, then a small problem",
    "sweeps": "several passes",
    "rows": "row by row on the host",
    "graph": "one graph of all rows",
}
ON_DASK = {"moments": ", Dask (at most two passes)", "sample": ", Dask (one pass, for a sample)"}
PAGE = Path(__file__).parent / "methods.md"
# Room of the first module → group of the reference; what is not here stands under the last one.
GROUPS = {
    "few_label": "Few labels",
    "estimators": "No labels",
    "advice": "What to label, what to doubt, when to stop",
    "model_selection": "Model selection",
    "kernels": "Kernels",
    "geometry": "Maps and operators",
    "inputs": "Tables",
    "io": "Saving",
    "bridges": "Other libraries",
    "backend": "Devices",
    "errors": "Errors and warnings",
    "": "Beside these",
}
# Not exported at the top, but what others point to.
BENEATH = {
    "Beneath": (
        "estimators.base.KernelEstimator",
        "estimators.classifier.KernelClassifier",
        "geometry.maps.base.FeatureMap",
        "evidence.accuracy.Estimate",
        "solvers.result.Result",
        "model_selection.leave_one_label_out",
    ),
    "Pictures": tuple(f"plots.{name}" for name in mercer.plots.__all__),
}


HEAD = """# Methods and API

Everything public is importable from `mercer`. [The methods on one page](../methods.md) says how each reads the rows and
where it runs; [how to choose](../choosing.md) says which to take.
"""


def is_method(thing):
    return (
        inspect.isclass(thing)
        and hasattr(thing, "fit")
        and thing.__module__.startswith(("mercer.estimators", "mercer.few_label"))
    )


def first_line(thing):
    return (inspect.getdoc(thing) or "").partition("\n\n")[0].replace("\n", " ")


def table():
    """The page of methods as text."""
    lines = ["# Methods", "", "Made by `python docs/generate.py` from the classes.", ""]
    lines += ["| class | what it does | how it reads the rows | runs on |", "|---|---|---|---|"]
    for name in mercer.__all__:
        thing = getattr(mercer, name)
        if is_method(thing):
            how = READS.get(getattr(thing, "access", ""), "as the methods it chooses from")
            where = ("NumPy, torch" if hasattr(thing, "access") else "NumPy") + ON_DASK.get(thing.on_dask, "")
            lines.append(f"| `{name}` | {inspect.getdoc(thing).splitlines()[0]} | {how} | {where} |")
    return "\n".join(lines) + "\n"


def grouped():
    """{group: names of what is public in it}"""
    groups = {title: [] for title in GROUPS.values()}
    for name in mercer.__all__:
        thing, room = getattr(mercer, name), mercer.exports[name].split(".")[0]
        if is_method(thing):
            room = "few_label" if hasattr(thing, "predict_proba") or "Regressor" in name else "estimators"
        groups[GROUPS.get(room, GROUPS[""])].append(name)
    groups["Few labels"].append(groups["No labels"].pop(groups["No labels"].index("MinimumVarianceKPCA")))
    return {title: names for title, names in groups.items() if names}


def own_members(thing):
    """Public methods and properties of a class that this package defines, in the order of the classes."""
    found = {}
    for cls in thing.__mro__:
        if cls.__module__.startswith("mercer"):
            for name, value in vars(cls).items():
                called = inspect.isroutine(value) or isinstance(value, property) or hasattr(value, "__get__")
                if (
                    not name.startswith("_")
                    and not name.endswith("_request")
                    and called
                    and inspect.getdoc(getattr(thing, name, None))
                ):
                    found.setdefault(name, None)
    return list(found)


def reference(name, thing, module="mercer", picture=False):
    """The page of one public name, in reStructuredText."""
    lines = [name, "=" * len(name), ""]
    if picture:
        lines += [f".. image:: img/{name}.png", f"   :alt: {name} on a small data set", "   :width: 520px", ""]
    lines += [f".. currentmodule:: {module}", ""]
    if inspect.isclass(thing):
        lines += [f".. autoclass:: {name}", f"   :members: {', '.join(own_members(thing))}"]
    else:
        lines += [f".. autofunction:: {name}"]
        answer = inspect.signature(thing).return_annotation
        if inspect.isclass(answer) and answer.__module__.startswith("mercer") and answer.__name__ not in mercer.exports:
            lines += ["", f".. currentmodule:: {answer.__module__}", "", f".. autoclass:: {answer.__name__}"]
    if module == "mercer":
        lines += [
            "",
            f".. minigallery:: mercer.{name}",
            "   :add-heading: Examples that use it",
            "   :heading-level: -",
        ]
    return "\n".join(lines) + "\n"


def pages(pictures=True):
    """{path below the sources of the site: text} of every page that is made from the code."""
    made, index = {}, [HEAD]
    groups = {title: [(name, "mercer") for name in names] for title, names in grouped().items()}
    for title, paths in BENEATH.items():
        groups[title] = [(path.rpartition(".")[2], f"mercer.{path.rpartition('.')[0]}") for path in paths]
    for title, names in groups.items():
        index += [f"## {title}", "", "| | |", "|---|---|"]
        for name, module in names:
            thing = getattr(import_module(module), name)
            made[f"api/{name}.rst"] = reference(
                name, thing, module, pictures and module == "mercer" and is_method(thing)
            )
            index.append(f"| [{name}]({name}.rst) | {first_line(thing)} |")
        index.append("")
    index += [
        "```{toctree}",
        ":hidden:",
        "",
        "../methods.md",
        *(name for names in groups.values() for name, _ in names),
        "```",
    ]
    made["api/index.md"] = "\n".join(index) + "\n"

    from mercer.cli.manual import markdown

    made["commands.md"] = markdown()
    return made


if __name__ == "__main__":
    PAGE.write_text(table())
    print(f"wrote {PAGE}")
