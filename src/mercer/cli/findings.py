"""From a fitted classifier to the plain findings of the report."""

import numpy as np

from ..kernels import RBF, Cosine
from ..report import Findings, Points
from ..selection.doubt import doubt
from ..selection.suggest import suggest
from ..selection.suspicious import suspicious
from ..solvers.choice import accuracy_interval

SHOWN_CANDIDATES = 12
SHOWN_CELLS = 4
SHOWN_ROWS = 12
PICTURE_ROWS = 5000  # rows up to which the map is an exact kernel PCA


def coverage(model):
    """[(share answered, accuracy, low, high)] over the withheld labels, most confident first."""
    tested = model.labels_.testable
    if not tested.any():
        return []
    P = model._probabilities(model.left_out_scores_[tested])
    right = P.argmax(axis=1) == model.labels_.codes[model.labels_.labelled[tested]]
    right = right[np.argsort(-P.max(axis=1), kind="stable")]
    total = len(right)
    hits = np.cumsum(right)
    steps = np.unique(np.linspace(1, total, min(total, 40)).round().astype(int))
    return [(float(k / total), float(hits[k - 1] / k), *accuracy_interval(int(hits[k - 1]), int(k))) for k in steps]


def doubtful_labels(model):
    """[(row, given label, what the others say, reason)] for labels that a fit without them contradicts, worst first."""
    found = suspicious(model)
    columns = zip(found.rows.tolist(), found.given.tolist(), found.proposed.tolist(), found.probability)
    return [
        (row, str(given), str(other), f"without this label the others say {other}; {p:.0%} likely wrong")
        for row, given, other, p in columns
    ]


def findings(job, model, answer, abstain, out, save, seed):
    """Everything the report shows."""
    given = job.labels.given
    n, n_given, n_left = len(job.names), int(given.sum()), int(answer.left.sum())
    classes = [str(name) for name in model.classes_]
    tested = int(model.labels_.testable.sum())
    low, high = model.accuracy_interval_
    n_next = min(10, int((~given).sum()))
    following = suggest(model, n_next, random_state=seed) if n_next else None
    return Findings(
        title=f"{_count(n - n_given - n_left)} rows labelled from {_count(n_given)}",
        subtitle=f"{job.data.name}, column {job.target}",
        tiles=_tiles(n, n_given, n_left, tested, model, low, high),
        facts=[
            ("table", job.data.name),
            ("labels in", job.target),
            ("rows", _count(n)),
            ("labels given", f"{_count(n_given)} of {len(classes)} classes"),
            ("learnt from", job.features.sentence_),
            ("left unlabelled", f"below confidence {abstain:g}" if abstain else "no row: --abstain sets a threshold"),
            ("written to", str(out)),
        ],
        classes=classes,
        points=_points(job, answer, seed),
        axes="The axes are the first two kernel principal components of all rows.",
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
        suggestions=[
            (job.names[i], classes[model.predicted_[i]], float(model.confidence_[i]), reason)
            for i, reason in zip(following.rows, following.reasons)
        ]
        if following
        else [],
        suspicious=[(job.names[i], *rest) for i, *rest in doubtful_labels(model)[:SHOWN_ROWS]],
        doubtful=_doubtful(job, model),
        reasons=_reasons(model),
        notes=job.notes,
        code=_code(job, out, save),
    )


def _doubtful(job, model):
    """The predicted rows with the most reasons for doubt."""
    found = doubt(model)
    rows = zip(found.rows, found.labels.tolist(), found.confidence, found.reasons)
    return [
        (job.names[i], str(label), float(sure), ", ".join(names))
        for i, label, sure, names in rows
        if not job.labels.given[i]
    ][:SHOWN_ROWS]


def _tiles(n, n_given, n_left, tested, model, low, high):
    tiles = [(_count(n - n_given - n_left), "rows filled in"), (_count(n_given), "labels given")]
    if tested:
        caption = f"of {tested} withheld labels right; the true share is likely {low:.0%} to {high:.0%}"
        tiles.append((f"{model.left_out_accuracy_:.0%}", caption))
    if n_left:
        tiles.append((_count(n_left), "rows left unlabelled"))
    return tiles


def _reasons(model):
    """The classifier's own sentences, and the heaviest candidates by name."""
    heavy = [row for row in model.report_.candidates if row["weight"] > 0.1][:3]
    if not heavy:
        return model.report_.sentences
    names = "; ".join(f"{row['candidate']} ({row['weight']:.0%})" for row in heavy)
    return [*model.report_.sentences, f"The largest weights: {names}."]


def _candidates(model, tested):
    rows = []
    for row in model.report_.candidates[:SHOWN_CANDIDATES]:
        low, high = accuracy_interval(row["accuracy"] * tested, tested) if tested else (0.0, 1.0)
        right = row["accuracy"] if tested else float("nan")
        rows.append(
            {
                "name": row["candidate"],
                "right": right,
                "low": low,
                "high": high,
                "weight": row["weight"],
                "seconds": row["seconds"],
            }
        )
    return rows if tested else []


def _points(job, answer, seed):
    frame = job.table.frame
    shown = [encoder.name for encoder in job.features.encoders_][:SHOWN_CELLS]
    return Points(
        xy=_map(job.X, job.features, seed),
        codes=np.where(answer.left, -1, answer.codes),
        given=job.labels.given,
        confidence=answer.confidence,
        names=job.names,
        cells={name: frame[name].astype(str).tolist() for name in shown},
    )


def _map(X, features, seed):
    """(n, 2) kernel principal components; of standardised columns unless all are in the same unit."""
    import scipy.sparse as sp

    from ..estimators.kernel_pca import KernelPCA

    approx = "auto" if X.shape[0] <= PICTURE_ROWS else 500
    model = KernelPCA(n_components=2, kernel=Cosine() if sp.issparse(X) else RBF(), approx=approx, random_state=seed)
    if not sp.issparse(X) and not features.standardise_:
        spread = X.std(axis=0)
        if spread.max() > 20 * max(np.median(spread), 1e-300):  # one column in other units would be the whole picture
            X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    xy = model.fit_transform(X)
    return xy if xy.shape[1] == 2 else np.column_stack([xy[:, 0], np.zeros(len(xy))])


def _code(job, out, save):
    lines = ["import pandas as pd", ""]
    lines += [f"labelled = pd.read_csv({str(out)!r})  # {job.target}_predicted, _confidence, _source"]
    if save:
        lines += [
            "",
            "import mercer",
            "from mercer.tables import read_table",
            "",
            f"model = mercer.load({str(save)!r})",
            'rows = read_table("new.csv").frame',
            "model.predict(rows), model.predict_proba(rows)",
        ]
    else:
        lines += ["", "# `mercer label ... --save model.mercer` also keeps the model for new rows"]
    return "\n".join(lines)


def _count(number):
    return f"{number:,}".replace(",", "\u202f")
