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
from mercer.cli.machine import reads_rows, runs_on

PAGE = Path(__file__).parent / "methods.md"
# Folder of the first module → group of the reference; everything else is in the last one.
GROUPS = {
    "few_label": "Few labels",
    "estimators": "No labels",
    "advice": "What to label, what to doubt, when to stop",
    "model_selection": "Model selection",
    "kernels": "Kernels",
    "geometry": "Maps and operators",
    "inputs": "Tables",
    "io": "Saving",
    "bridges": "Other tools",
    "backend": "Devices",
    "errors": "Errors and warnings",
    "": "Other",
}
# Not exported at the top, but linked from other pages.
BELOW = {
    "Building blocks": (
        "estimators.base.KernelEstimator",
        "estimators.classifier.KernelClassifier",
        "geometry.maps.base.FeatureMap",
        "evidence.accuracy.Estimate",
        "solvers.result.Result",
        "model_selection.leave_one_label_out",
    ),
    "Plots": tuple(f"plots.{name}" for name in mercer.plots.__all__),
}


# Methods that a user of scikit-learn looks for, in this order.
STANDARD = (
    "fit", "predict", "predict_proba", "predict_log_proba", "decision_function", "score", "fit_predict", "transform",
    "fit_transform", "inverse_transform", "score_samples", "select", "teach", "unteach", "relabel", "taught", "prepare",
)  # fmt: skip
# Extension points and what other modules of the package call.
INTERNAL = {
    "answering", "check", "check_whole", "gamma_path", "learn", "names", "path", "places", "profile", "profile_slope",
    "reach", "refits", "resolve", "routes", "row_numbers", "slope", "solve", "sparse_features", "spectral_sample",
    "check_prepared", "diag", "hurry", "looks_at", "parts", "relocate", "score_of_rows", "solution_for", "tilted",
    "unsupported", "get_params", "terms", "tile", "withheld", "set_params", "advice_rows", "trust", "sets_of",
    "confidence_of", "on_landmarks",
    "twin", "spread", "slopes", "of_rows", "kernel_of", "counted", "overlap", "count", "of_counts", "counts", "settled",
    "block", "combine", "random", "well_conditioned", "similarities", "part_scores", "absent", "renamed", "unread",
    "outside", "missing", "axes",
    "left_out_path", "library_", "answers_", "dask_", "weight_", "offsets_", "scores_", "looked_at", "opinions",
}  # fmt: skip


HEAD = """# Methods and API

Import everything from `mercer`. [The methods on one page](../methods.md) lists how each one reads the rows and where it
runs. [How to choose](../choosing.md) helps to pick one.
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
            does = inspect.getdoc(thing).splitlines()[0]
            lines.append(f"| `{name}` | {does} | {reads_rows(thing)} | {runs_on(thing)} |")
    return "\n".join(lines) + "\n"


def grouped():
    """{group: names of what is public in it}"""
    groups = {title: [] for title in GROUPS.values()}
    for name in mercer.__all__:
        thing, room = getattr(mercer, name), mercer.exports[name].split(".")[0]
        if is_method(thing):
            room = "few_label" if hasattr(thing, "predict_proba") or "Regressor" in name else "estimators"
        groups[GROUPS.get(room, GROUPS[""])].append(name)
    for name in ("MinimumVarianceKPCA", "ImageShifts"):
        if name in groups["No labels"]:
            groups["Few labels"].append(groups["No labels"].pop(groups["No labels"].index(name)))
    return {title: names for title, names in groups.items() if names}


def own_members(thing):
    """Public methods and properties of a class that this package defines: the standard methods first.

    Extension points (`solve`, `path`, `tile`, …) are described in the contributors' guide, and not on the page of every
    class that has them.
    """
    found = dict.fromkeys(name for name in STANDARD if hasattr(thing, name) and _is_ours(thing, name))
    if not hasattr(thing, "teach"):  # an extension point of the other classes
        found.pop("prepare", None)
    for cls in thing.__mro__:
        if cls.__module__.startswith("mercer"):
            for name, value in vars(cls).items():
                called = inspect.isroutine(value) or isinstance(value, property) or hasattr(value, "__get__")
                if (
                    not name.startswith("_")
                    and not name.endswith("_request")
                    and name not in (*INTERNAL, "prepare")
                    and called
                    and inspect.getdoc(getattr(thing, name, None))
                ):
                    found.setdefault(name, None)
    return list(found)


def _is_ours(thing, name):
    return any(name in vars(cls) for cls in thing.__mro__ if cls.__module__.startswith("mercer"))


def reference(name, thing, module="mercer", picture=False):
    """The page of one public name, in reStructuredText."""
    lines = [name, "=" * len(name), ""]
    if picture:
        lines += [f".. image:: img/{name}.png", f"   :alt: {name} on a small data set", "   :width: 520px", ""]
    lines += [f".. currentmodule:: {module}", ""]
    if inspect.isclass(thing):
        lines += [f".. autoclass:: {name}", ""]
        for member in own_members(thing):
            kind = "autoproperty" if isinstance(inspect.getattr_static(thing, member), property) else "automethod"
            lines += [f"   .. {kind}:: {member}"]
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
    for title, paths in BELOW.items():
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
