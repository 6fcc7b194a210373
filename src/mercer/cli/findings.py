"""From a fitted classifier to the plain findings of the report."""

import numpy as np

from ..advice.doubt import doubt
from ..advice.stop import expected_change
from ..advice.suggest import suggest
from ..advice.suspicious import suspicious
from ..errors import InputError
from ..evidence.choice import accuracy_interval
from ..few_label.plan import METHODS
from ..inputs.tables.formats import written_format
from ..report import MOST_POINTS, Findings, Points
from .job import added
from .picture import SENTENCE, positions

SHOWN_CANDIDATES = 12
SHOWN_CELLS = 4
SHOWN_ROWS = 12


def coverage(model):
    """[(share answered, accuracy, low, high)] over the withheld labels, most confident first."""
    tested = model.labels_.testable
    if not tested.any():
        return []
    P = model.left_out_probabilities_
    right = P.argmax(axis=1) == model.labels_.codes[model.labels_.labelled[tested]]
    right = right[np.argsort(-P.max(axis=1), kind="stable")]
    total = len(right)
    hits = np.cumsum(right)
    steps = np.unique(np.linspace(1, total, min(total, 40)).round().astype(int))
    return [(float(k / total), float(hits[k - 1] / k), *accuracy_interval(int(hits[k - 1]), int(k))) for k in steps]


def doubtful_labels(fitted):
    """[(row, given label, what the others say, reason)] for labels that a fit without them contradicts, worst first."""
    found = suspicious(fitted.model)
    columns = zip(fitted.rows[found.rows].tolist(), found.given.tolist(), found.proposed.tolist(), found.probability)
    return [
        (row, str(given), str(other), f"without this label the others say {other}; {p:.0%} likely wrong")
        for row, given, other, p in columns
    ]


def findings(screen, job, fitted, answer, abstain, out, save, seed):
    """Everything the report shows."""
    model = fitted.model
    given = job.labels.given
    n, n_given, n_left = len(job.names), int(given.sum()), int(answer.left.sum())
    classes = [str(name) for name in model.classes_]
    tested = int(model.labels_.testable.sum())
    low, high = model.accuracy_interval_
    screen.step("choosing rows to label next", 0.0)
    following, effect = _next(job, fitted, classes, seed)
    screen.step("looking for doubtful labels and answers", 0.3)
    suspect, doubted = doubtful_labels(fitted)[:SHOWN_ROWS], _doubtful(job, fitted)
    screen.step("drawing the rows", 0.4)
    points = _points(job, answer, seed)
    screen.step("making the page", 0.9)
    return Findings(
        title=f"{_rows(n - n_given - n_left)} labelled from {_count(n_given)}",
        subtitle=f"{job.data.name}, column {job.target}",
        tiles=_tiles(n, n_given, n_left, tested, model, low, high),
        facts=[
            ("table", job.data.name),
            ("labels in", job.target),
            ("rows", _count(n)),
            ("labels given", f"{_count(n_given)} of {len(classes)} classes"),
            ("learnt from", job.encoder.sentence_),
            ("left unlabelled", f"below confidence {abstain:g}" if abstain else "no row: --abstain sets a threshold"),
            ("written to", str(out)),
        ],
        classes=classes,
        points=points,
        n_rows=n,
        axes=SENTENCE,
        confidence=answer.confidence[~given],
        abstain=abstain,
        coverage=coverage(model),
        candidates=_candidates(model, tested),
        n_candidates=len(model.report_.candidates),
        balance=[
            (name, int(np.sum(given & (answer.codes == k))), int(np.sum(~given & ~answer.left & (answer.codes == k))))
            for k, name in enumerate(classes)
        ],
        n_abstained=n_left,
        suggestions=following,
        effect=effect,
        suspicious=[(job.names[i], *rest) for i, *rest in suspect],
        doubtful=doubted,
        reasons=_reasons(model),
        notes=job.notes,
        code=_code(job, out, save),
    )


def effect_of_more(model, n=20):
    """A sentence on how many predictions n more labels would change: the sign to stop labelling."""
    n = min(n, int(np.sum(model.labels_.codes < 0)))
    more = "1 more label is" if n == 1 else f"{n} more labels are"
    return f"{more} expected to change about {expected_change(model, n):.1%} of the predictions."


def _next(job, fitted, classes, seed):
    """(rows to label next, what labels would change); nothing where the method cannot tell."""
    free = int((~job.labels.given[fitted.rows]).sum())
    try:
        found = suggest(fitted.model, min(10, free), random_state=seed)
        effect = effect_of_more(fitted.model)
    except InputError:  # the effect of a label is known for methods that are linear in the labels
        return [], ""
    rows = fitted.rows[found.rows]
    guesses = [(job.names[i], classes[fitted.codes[i]], float(fitted.confidence[i])) for i in rows]
    return [(*guess, reason) for guess, reason in zip(guesses, found.reasons)], effect


def _doubtful(job, fitted):
    """The predicted rows with the most reasons for doubt."""
    found = doubt(fitted.model)
    rows = zip(fitted.rows[found.rows], found.labels.tolist(), found.confidence, found.reasons)
    return [
        (job.names[i], str(label), float(sure), ", ".join(names))
        for i, label, sure, names in rows
        if not job.labels.given[i]
    ][:SHOWN_ROWS]


def _tiles(n, n_given, n_left, tested, model, low, high):
    filled = n - n_given - n_left
    tiles = [(_count(filled), f"row{_s(filled)} filled in"), (_count(n_given), f"label{_s(n_given)} given")]
    if tested:
        caption = f"of {tested} labels right when withheld ({low:.0%} to {high:.0%}); each fit then has a label less, "
        caption += "so with few labels this is a cautious estimate"
        tiles.append((f"{model.left_out_accuracy_:.0%}", caption))
    most = model.majority_
    worse = "" if not tested or most.beaten_by(low) else "; not shown to be worse than the model"
    caption = f"right by always answering {most.name} ({most.low:.0%} to {most.high:.0%}){worse}"
    tiles.append((f"{most.share:.0%}", caption))
    if n_left:
        tiles.append((_count(n_left), f"row{_s(n_left)} left unlabelled"))
    return tiles


def _reasons(model):
    """The classifier's own sentences, and the heaviest candidates by name."""
    heavy = [row for row in model.report_.candidates if row["weight"] > 0.1][:3]
    if not heavy:
        return model.report_.sentences
    names = "; ".join(f"{METHODS[row['method']][0]} ({_settings(row)}), {row['weight']:.0%}" for row in heavy)
    return [*model.report_.sentences, f"The largest weights: {names}."]


def _settings(row):
    """A candidate's parameters and space, without the name of its method."""
    return row["candidate"].removeprefix(row["method"]).removeprefix(":").strip()


def _candidates(model, tested):
    rows = []
    for row in model.report_.candidates[:SHOWN_CANDIDATES]:
        low, high = accuracy_interval(row["accuracy"] * tested, tested) if tested else (0.0, 1.0)
        right = row["accuracy"] if tested else float("nan")
        rows.append(
            {
                "name": METHODS[row["method"]][0],
                "settings": _settings(row),
                "right": right,
                "low": low,
                "high": high,
                "weight": row["weight"],
                "seconds": row["seconds"],
            }
        )
    return rows if tested else []


def _points(job, answer, seed):
    """All rows, or the given labels and a random sample of the others."""
    n = len(job.names)
    rows = np.arange(n)
    if n > MOST_POINTS:
        order = np.random.default_rng(seed).permutation(n)
        rows = np.sort(order[np.argsort(~job.labels.given[order], kind="stable")][:MOST_POINTS])
    shown = [name for name in job.table.frame.columns if name in job.encoder.used_][:SHOWN_CELLS]
    return Points(
        xy=positions(job.X[rows], seed),
        codes=np.where(answer.left, -1, answer.codes)[rows],
        given=job.labels.given[rows],
        confidence=answer.confidence[rows],
        names=[job.names[i] for i in rows],
        cells={name: job.table.frame[name].iloc[rows].astype(str).tolist() for name in shown},
    )


def _code(job, out, save):
    lines = [
        "import mercer",
        "import pandas as pd",
        "from mercer.inputs.tables import read_table",
        "",
        f"# with {', '.join(added(job.target))}",
        f"labelled = {written_format(out, job.table).code(out, job.table)}",
    ]
    if save:
        lines += [
            "",
            f"model = mercer.load({str(save)!r})",
            'rows = read_table("new.csv").frame',
            "model.predict(rows), model.predict_proba(rows)",
        ]
    else:
        lines += ["", "# `mercer label ... --save model.mercer` also keeps the model for new rows"]
    return "\n".join(lines)


def _rows(number):
    return f"{_count(number)} row{_s(number)}"


def _s(number):
    return "" if number == 1 else "s"


def _count(number):
    return f"{number:,}".replace(",", "\u202f")
