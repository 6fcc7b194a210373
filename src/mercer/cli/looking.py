"""`mercer look` shows the inferred type of each column of a table."""

from dataclasses import asdict

from ..jobs.corrections import earlier_columns
from ..jobs.dataset import read_labeled
from ..jobs.options import ReadOptions
from ..jobs.tables import open_table


def look(console, data, target=None, **source):
    """Show the kind, use, reason, missing cells and weight of each column, as `mercer label` sees it."""
    options = ReadOptions(**source)
    if target is None:
        table, given = open_table(data, options, options.ignore or [], console), None
        old = [name for name in earlier_columns(table) if name not in options.asked]
    else:
        found = read_labeled(data, [target], options, need_labels=False, several=True, on_event=console)
        table, old, given = found.table, found.old, found.labels[target].given
    named = [*(options.ignore or []), *([] if target is None else [target])]
    encoder = options.encoder([*named, *(name for name in old if name not in named)])
    rows = encoder.fit_transform(table.frame, labeled=given)
    columns = encoder.columns_
    for column in columns:
        if column.name == target:
            column.kind, column.why = "target", "the labels"
        elif column.name in old:
            column.kind, column.why = "earlier run", "written by mercer"
    console.result |= {"rows": len(table), "width": rows.shape[1], "columns": [asdict(column) for column in columns]}
    lines = [(c.name, c.kind, c.use, c.why, _percent(c.missing), _percent(c.say)) for c in columns]
    console.table(["column", "kind", "use", "why", "missing", "weight"], lines)
    for sentence in encoder.notes_:
        console.note(sentence)
    console.say(f"{len(table)} rows, learned from {encoder.sentence_}: a matrix of {_columns(rows.shape[1])}.")
    if target is None:
        console.say("With -t COLUMN, columns that leak the labels are found and excluded, as in `mercer label`.")


def _columns(number: int) -> str:
    return f"{number} column{'' if number == 1 else 's'}"


def _percent(share: float) -> str:
    """Return a fraction as a percentage with few digits, and no text for 0."""
    return "" if share == 0 else f"{share:.0%}" if share >= 0.1 else f"{share:.1%}"
