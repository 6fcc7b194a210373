"""`mercer look`: what each column of a table is taken for."""

from dataclasses import asdict

from ..jobs.sources import Reading, open_table


def look(screen, data, target=None, *, ignore=None, **source):
    """One line for each column: kind, use, reason, gaps and say."""
    ignore, reading = ignore or [], Reading(**source)
    table = open_table(screen, data, reading, [target, *ignore])
    encoder = reading.encoder([*ignore, target])
    rows = encoder.fit_transform(table.frame)
    columns = encoder.columns_
    for column in columns:
        if column.name == target:
            column.kind, column.why = "target", "the labels"
    screen.result |= {"rows": len(table), "width": rows.shape[1], "columns": [asdict(column) for column in columns]}
    lines = [(c.name, c.kind, c.use, c.why, _percent(c.missing), _percent(c.say)) for c in columns]
    screen.table(["column", "kind", "use", "why", "missing", "say"], lines)
    for sentence in encoder.notes_:
        screen.note(sentence)
    screen.say(f"{len(table)} rows, learnt from {encoder.sentence_}: a matrix of {rows.shape[1]} columns.")


def _percent(share):
    """A share in few digits; nothing for none."""
    return "" if share == 0 else f"{share:.0%}" if share >= 0.1 else f"{share:.1%}"
