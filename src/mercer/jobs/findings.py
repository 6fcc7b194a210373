"""From a fitted classifier to the plain findings of the report."""

from dataclasses import asdict

import numpy as np

from ..advice.doubt import doubt
from ..advice.drives import effects
from ..advice.stop import expected_change
from ..advice.suggest import suggest
from ..advice.why import heaviest, similar_labelled, why
from ..errors import InputError
from ..evidence.choice import accuracy_interval
from ..few_label.plan import METHODS
from ..few_label.summary import unseen_sentence
from ..inputs.tables.formats import written_format
from ..report import MOST_POINTS, Findings, Points
from ..report.picture import SENTENCE, positions
from .answers import added
from .quality import contradicted_sentence, contradictions, coverage, doubtful_labels, per_class, unlike_labelled

SHOWN_CANDIDATES = 12
SHOWN_CELLS = 4
SHOWN_ROWS = 12
TOLD = "What tells the rows of each from all others: the middle or commonest value, beside that of the others."
MOST_EFFECTS = 200  # columns beyond which their effects are not computed


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
    suspect, doubted = doubtful_labels(job, fitted)[:SHOWN_ROWS], _doubtful(job, fitted, answer)
    unseen = [(row_of(job, i), reason) for i, reason in unlike_labelled(job, fitted, SHOWN_ROWS)]
    screen.step("drawing the rows", 0.4)
    points = _points(job, fitted, answer, seed)
    screen.step("weighing the columns", 0.8)
    columns = columns_of(job.encoder, effects_of(job, model, seed))
    screen.step("making the page", 0.95)
    return Findings(
        title=f"{_rows(n - n_given - n_left)} labelled from {_count(n_given)}",
        subtitle=f"{job.data.name}, column {job.target}",
        tiles=_tiles(n, n_given, n_left, tested, model, low, high, answer.sets),
        facts=[
            ("table", job.data.name),
            ("labels in", job.target),
            ("rows", _count(n)),
            ("labels given", f"{_count(n_given)} of {len(classes)} classes"),
            ("learnt from", job.encoder.sentence_),
            ("left unlabelled", f"below confidence {abstain:g}" if abstain else "no row: --abstain sets a threshold"),
            *([("sets of classes", answer.sets.sentence)] if answer.sets else []),
            ("written to", str(out)),
        ],
        marks="Each mark is a row; nearby rows are similar; faint ones are unsure.",
        classes=classes,
        points=points,
        n_rows=n,
        axes=SENTENCE,
        confidence=answer.confidence[~given],
        abstain=abstain,
        coverage=coverage(model),
        majority=(model.majority_.name, model.majority_.share) if tested else None,
        recall=per_class(model) if tested else [],
        candidates=_candidates(model, tested),
        n_candidates=len(model.report_.candidates),
        balance=[
            (name, int(np.sum(given & (answer.codes == k))), int(np.sum(~given & ~answer.left & (answer.codes == k))))
            for k, name in enumerate(classes)
        ],
        n_abstained=n_left,
        suggestions=following,
        effect=effect,
        suspicious=[(row_of(job, i), *rest) for i, *rest in suspect],
        confirmed=contradicted_sentence(*contradictions(model)) if suspect else "",
        doubtful=doubted,
        unseen=unseen,
        unseen_share=unseen_sentence(model.estimate_) if unseen else "",
        groups=_portraits(job, answer, classes),
        grouping=("What each class looks like", TOLD),
        columns=columns,
        reasons=_reasons(model),
        notes=job.notes,
        code=code(job, out, save, added(job.target), "model.predict(rows), model.predict_proba(rows)", answer.sets),
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
    names = [job.names[i] for i in fitted.rows]
    return [
        (row_of(job, i), classes[fitted.codes[i]], float(fitted.confidence[i]), one.sentence(names, first=False))
        for i, one in zip(fitted.rows[found.rows], why(fitted.model, found.rows))
    ], effect


def _doubtful(job, fitted, answer):
    """The predicted rows with the most reasons for doubt; rows left unlabelled are no predictions."""
    found = doubt(fitted.model)
    kept = ~(job.labels.given | answer.left)[fitted.rows[found.rows]]
    first = np.flatnonzero(kept)[:SHOWN_ROWS]
    names = [job.names[i] for i in fitted.rows]
    reasons = [one.sentence(names, first=False) for one in why(fitted.model, found.rows[first])]
    return [
        (
            row_of(job, fitted.rows[found.rows[j]]),
            str(found.labels[j]),
            float(found.confidence[j]),
            f"{', '.join(found.reasons[j])}: {reason}",
        )
        for j, reason in zip(first, reasons)
    ]


def row_of(job, i):
    """(name, telling cells) of a row."""
    return job.names[i], job.telling.sentence(i)


def columns_of(encoder, found=None):
    """What was decided about every column and how much the answers depend on it, the most important first."""
    found = found or {}
    columns = [asdict(column) | {"effect": found.get(column.name)} for column in encoder.columns_]
    columns = [column for column in columns if column["kind"] != "ignored"]
    return sorted(columns, key=lambda column: (column["use"] == "left out", -(column["effect"] or 0), -column["say"]))


def effects_of(job, model, seed):
    """How much the answers depend on each column; not computed for very many."""
    return effects(model, job.X, job.encoder.slices_, seed) if len(job.encoder.slices_) <= MOST_EFFECTS else {}


def _portraits(job, answer, classes):
    """What tells the rows of each class from the others."""
    codes = np.where(answer.left, -1, answer.codes)
    return [
        {"name": name, "size": int(np.sum(codes == k)), "telling": phrases, "rows": []}
        for k, (name, phrases) in enumerate(zip(classes, job.telling.of_groups(codes, len(classes))))
        if phrases
    ]


def _tiles(n, n_given, n_left, tested, model, low, high, sets):
    filled, found = n - n_given - n_left, model.estimate_
    tiles = [(_count(filled), f"row{_s(filled)} filled in"), (_count(n_given), f"label{_s(n_given)} given")]
    if tested:
        told = (
            f"{found.n_drawn} withheld labels of rows drawn at random" if found.n_drawn < n_given else "withheld labels"
        )
        caption = f"of the answers are right, as far as {told} tell ({low:.0%} to {high:.0%})"
        if not found.for_all_rows:
            caption = f"of the labels come out right when withheld ({low:.0%} to {high:.0%}): not an estimate for all "
            caption += "rows, for every labelled row was chosen"
        tiles.append((f"{model.left_out_accuracy_:.0%}", caption))
    most = model.majority_
    worse = "" if not tested or most.beaten_by(low) else "; not shown to be worse than the model"
    caption = f"right by always answering {most.name} ({most.low:.0%} to {most.high:.0%}){worse}"
    tiles.append((f"{most.share:.0%}", caption))
    if sets:
        each = " of each class" if sets.by_class else ""
        caption = f"of {len(model.classes_)} classes in {sets.name} on average; the right one is among them in about "
        caption += f"{sets.coverage:.0%} of the rows{each}"
        if sets.mean_size >= len(model.classes_):
            caption = f"classes in every cell of {sets.name}, all there are: the labels are too few for less"
        tiles.append((f"{sets.mean_size:.1f}".removesuffix(".0"), caption))
    if n_left:
        tiles.append((_count(n_left), f"row{_s(n_left)} left unlabelled"))
    return tiles


def _reasons(model):
    """The classifier's own sentences, and the heaviest candidates by name."""
    heavy = [row for row in model.report_.candidates if row["weight"] > 0.1][:3]
    if not heavy:
        return model.report_.sentences
    names = "; ".join(f"{METHODS[row['method']][0]} ({settings(row)}), {row['weight']:.0%}" for row in heavy)
    return [*model.report_.sentences, f"The largest weights: {names}."]


def settings(row):
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
                "settings": settings(row),
                "right": right,
                "low": low,
                "high": high,
                "weight": row["weight"],
                "seconds": row["seconds"],
            }
        )
    return rows if tested else []


def sample_of(n, first, seed):
    """All rows, or so many as are drawn: those marked `first`, and a random sample of the others."""
    if n <= MOST_POINTS:
        return np.arange(n)
    order = np.random.default_rng(seed).permutation(n)
    return np.sort(order[np.argsort(~first[order], kind="stable")][:MOST_POINTS])


def cells_of(telling, rows):
    """Cells for the tooltips: texts first, and they are whole."""
    others = [name for name in telling.shown if name not in telling.texts]
    shown = [*telling.texts, *others][:SHOWN_CELLS]
    return {name: telling.frame[name].iloc[rows].astype(str).tolist() for name in shown}


def _points(job, fitted, answer, seed):
    rows = sample_of(len(job.names), job.labels.given, seed)
    return Points(
        xy=positions(job.X[rows], seed),
        codes=np.where(answer.left, -1, answer.codes)[rows],
        given=job.labels.given[rows],
        confidence=answer.confidence[rows],
        names=[job.names[i] for i in rows],
        cells=cells_of(job.telling, rows) | {"most like": _alike(job, fitted, rows)},
    )


def _alike(job, fitted, rows):
    """The labelled row that is most like each row, and its label; nothing for rows that were not fitted."""
    model, words = fitted.model, np.full(len(job.names), "", dtype=object)
    labelled = model.labels_.labelled
    told = [f"{job.names[fitted.rows[i]]} ({model.classes_[model.labels_.codes[i]]})" for i in labelled]
    for begin in range(0, len(fitted.rows), 4096):
        cosines = similar_labelled(model, slice(begin, begin + 4096), heaviest(model))
        nearest = [told[i] for i in cosines.argmax(axis=1)]
        words[fitted.rows[begin : begin + 4096]] = nearest
    words[fitted.rows[labelled]] = ""
    return words[rows].tolist()


def code(job, out, save, columns, ask, sets=None):
    """How to use the table, with its new columns, and the model, which is asked so, in Python."""
    lines = [
        "import mercer",
        "import pandas as pd",
        "from mercer.inputs.tables import read_table",
        "",
        f"# with {', '.join(columns)}",
        f"labelled = {written_format(out, job.table).code(out, job.table)}",
    ]
    if sets:
        lines.append(f"may_be = labelled[{sets.name!r}].fillna('').str.split({sets.mark!r}, regex=False)")
    if save:
        lines += ["", f"model = mercer.load({str(save)!r})", 'rows = read_table("new.csv").frame', ask]
    else:
        lines += ["", "# `mercer label ... --save model.mercer` also keeps the model for new rows"]
    return "\n".join(lines)


def _rows(number):
    return f"{_count(number)} row{_s(number)}"


def _s(number):
    return "" if number == 1 else "s"


def _count(number):
    return f"{number:,}".replace(",", "\u202f")
