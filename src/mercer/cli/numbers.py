"""`mercer label`, `suggest` and `predict` where the labels are numbers."""

import numpy as np

from ..advice.suggest import suggest as suggest_rows
from ..few_label.numbers import FAMILIES
from ..few_label.regressor import FewLabelRegressor
from ..inputs.tables import TableRegressor
from ..io import write_model
from ..report import NumberFindings, render_numbers
from .job import BLOCK, NEXT, added, note, rows_to_fit
from .screen import UsageError
from .sources import shown, write

SHOWN = 12  # candidates and rows in the report


def label(screen, job, stage, methods, seconds, seed, abstain, out, report, save, force):
    """Fill in the missing numbers; write the table and, where asked, the report and the model."""
    _refuse_abstain(abstain)
    model, predicted, rows = fit(screen, job, methods, seconds, seed)
    given = job.labels.given
    predicted = np.where(given, job.labels.numbers, predicted)
    reach = np.where(given, 0.0, model.reach())
    others = {}
    if report:
        stage("making the report", 0.9)
        page = render_numbers(_findings(job, model, predicted, rows, out))
        others[report] = lambda path: path.write_text(page, encoding="utf-8")
    if save:
        others[save] = lambda path: write_model(TableRegressor(job.encoder, model, job.target), path)
    stage("writing", 1.0)
    columns = _columns(job.target, predicted, reach, given, model)
    write(screen, job.table, columns, out, force, others)
    screen.result |= _summary(job, model) | {"report": report, "model": save}
    screen.say(f"{int((~given).sum())} rows filled in from {int(given.sum())} numbers.")
    for sentence in model.report_.sentences[2:]:
        screen.say(sentence)
    for name, file in zip(("table", "report", "model"), (out, report, save)):
        if file:
            screen.say(f"{name:7} {shown(file)}")
    return model, columns


def fit(screen, job, methods, seconds, seed):
    """(model, its number for every row, the rows it was fitted to): all rows, or a sample of very many."""
    rows = rows_to_fit(job.labels, seed)
    n = len(job.names)

    def tell(text, fraction):
        screen.step(text, 0.7 * fraction if len(rows) < n else fraction)

    model = FewLabelRegressor(methods, time_budget=seconds, random_state=seed, verbose=tell)
    model.fit(job.X[rows], job.labels.numbers[rows])
    screen.result["interrupted"] = model.interrupted_
    if model.interrupted_:
        note(screen, job, f"Interrupted: the answer is that of the {len(model.candidates_)} candidates tried so far.")
    predicted = np.empty(n)
    predicted[rows] = model.predicted_
    others = np.setdiff1d(np.arange(n), rows)
    if len(others):
        note(screen, job, f"The model was fitted to {len(rows)} of {n} rows; the other rows were predicted from these.")
    for begin in range(0, len(others), BLOCK):
        block = others[begin : begin + BLOCK]
        screen.step(f"predicting {len(others)} other rows", 0.7 + 0.3 * begin / len(others))
        predicted[block] = model.predict(job.X[block])
    return model, predicted, rows


def suggest(screen, job, stage, methods, seconds, seed, n, id, out, force):
    """Rows whose numbers would take the most uncertainty from all predictions."""
    model, predicted, rows = fit(screen, job, methods, seconds, seed)
    stage("choosing rows", 0.95)
    found = suggest_rows(model, min(n, int((~job.labels.given[rows]).sum())), random_state=seed)
    chosen = rows[found.rows]
    numbers = _rounded(predicted[chosen], model)
    stage("writing", 1.0)
    if out:
        rank = np.full(len(job.names), "", dtype=object)
        rank[chosen] = np.arange(1, len(chosen) + 1).astype(str)
        write(screen, job.table, {NEXT: rank}, out, force)
    lines = list(zip([job.names[i] for i in chosen], numbers.tolist(), found.reasons))
    screen.result["suggestions"] = [dict(zip(("row", "guess", "reason"), line)) for line in lines]
    screen.table([id or "row", "guess", "why"], [(row, f"{number:g}", why) for row, number, why in lines])
    if not id:
        screen.say("Rows are counted from 1, without the header.")
    if out:
        screen.say(f"Written to {shown(out)}, column {NEXT}.")


def predict(screen, fitted, table, stage, abstain, out, force):
    """Predict the numbers of another table with a saved model."""
    _refuse_abstain(abstain)
    blocks = [table.frame.iloc[begin : begin + BLOCK] for begin in range(0, len(table), BLOCK)]
    predicted = np.concatenate([fitted.predict(block) for block in blocks])
    for sentence in fitted.encoder.unread(table.frame):
        screen.note(sentence)
    stage("writing", 1.0)
    model = fitted.regressor
    none = np.zeros(len(predicted), dtype=bool)
    write(screen, table, _columns(fitted.target, predicted, model.reach(), none, model), out, force)
    screen.result |= {"rows": len(table), "abstained": 0}
    screen.say(f"{len(table)} rows predicted; 90 % intervals are ± {model.reach():.3g}.")
    screen.say(f"Written to {shown(out)}.")


def _refuse_abstain(abstain):
    if abstain is not None:
        raise UsageError("--abstain is a confidence in a class; numbers have TARGET_low and TARGET_high instead.")


def _columns(target, predicted, reach, given, model):
    low, high = _rounded(predicted - reach, model), _rounded(predicted + reach, model)
    low, high = np.where(given, predicted, low), np.where(given, predicted, high)
    source = np.where(given, "given", "predicted")
    middle = np.where(given, predicted, _rounded(predicted, model))
    return dict(zip(added(target, numeric=True), (middle, low, high, source)))


def _rounded(numbers, model):
    """Numbers with five digits beyond the size of the spread of the given ones."""
    return np.round(numbers, 5 - int(np.floor(np.log10(model.targets_.scale))))


def _summary(job, model):
    return {
        "target": "numbers",
        "rows": len(job.names),
        "given": int(job.labels.given.sum()),
        "predicted": int((~job.labels.given).sum()),
        "left_out_r2": model.left_out_r2_,
        "r2_interval": list(model.r2_interval_),
        "left_out_mae": model.left_out_mae_,
        "mae_interval": list(model.mae_interval_),
        "half_width": model.reach(),
        "reasons": model.report_.sentences,
    }


def _findings(job, model, predicted, rows, out):
    given = job.labels.given
    found = suggest_rows(model, min(10, int((~given[rows]).sum()))) if model.linear_ is not None else None
    chosen = [] if found is None else list(zip(rows[found.rows], found.reasons))
    (low, high), (least, most) = model.r2_interval_, model.mae_interval_
    return NumberFindings(
        title=f"{int((~given).sum())} numbers predicted from {int(given.sum())}",
        subtitle=f"{job.data.name}, column {job.target}",
        tiles=[
            (f"{model.left_out_r2_:.2f}", f"R² of numbers withheld ({low:.2f} to {high:.2f})"),
            (f"{model.left_out_mae_:.3g}", f"mean absolute error ({least:.3g} to {most:.3g})"),
            (f"± {model.reach():.3g}", "90 % prediction interval"),
        ],
        answers=(model.targets_.given, model.left_out_, model.reach()),
        suggestions=[(job.names[i], f"{_rounded(predicted[i], model):g}", why) for i, why in chosen],
        candidates=[
            {"name": FAMILIES[row["method"]][1], "settings": row["candidate"], **row}
            for row in model.report_.candidates[:SHOWN]
        ],
        reasons=model.report_.sentences,
        notes=[*job.notes, f"Learnt from {job.encoder.sentence_}. Written to {shown(out)}."],
    )
