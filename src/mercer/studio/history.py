"""The journal in sentences."""

from typing import Any

from .ledger import CANNOT, Ledger, spread

SHOWN = 12  # rows of an event that are named


def history(events: list, ledger: Ledger, rows: Any, before: int, limit: int) -> list:
    """The events before a revision, the newest first, as the page shows them."""
    names = {one["id"]: one["name"] for one in ledger.classes}
    out: list = []
    for event in reversed(events[: max(before - 1, 0)]):
        if len(out) == limit:
            break
        changed = event.get("rows", [])
        out.append(
            {
                "rev": event["rev"],
                "t": event["t"],
                "op": event["op"],
                "rows": changed[:SHOWN],
                "count": len(changed),
                "from": event.get("from"),
                "to": event.get("to"),
                "via": event.get("via"),
                "undone": event["rev"] in ledger.undone,
                "undoable": event["rev"] in ledger.undoable,
                "text": _sentence(event, names, rows),
            }
        )
    return out


def _sentence(event, names, rows):
    if event["op"] == "label":
        return f"{_rows(event, rows)}: {_change(event, names)}"
    if event["op"] in ("undo", "redo"):
        what = f": {_rows(event, rows)} → {_word(event.get('to'), names)}" if event.get("rows") else ""
        return f"{'Undid' if event['op'] == 'undo' else 'Did again'} event {event['undoes']}{what}"
    if event["op"] == "settings":
        return "Settings: " + ", ".join(f"{name} {value}" for name, value in event["settings"]["after"].items())
    if event["op"] == "file":
        lost = sum(place is None for place in event.get("places", []))
        return f"The table was read{f'; {lost} labelled rows are not in it any more' if lost else ''}"
    old, new = event["class"]["before"], event["class"]["after"]
    return {
        "add": f"Added the class {new['name']}",
        "rename": f"Renamed the class {old['name']} to {new['name']}",
        "merge": f"Merged the class {old['name']} into {names.get(new['merged'])}",
        "hide": f"Hid the class {new['name']}",
        "show": f"Showed the class {new['name']}",
    }[event["op"]]


def _rows(event, rows):
    changed = event["rows"]
    if len(changed) > 1:
        return f"{len(changed)} rows"
    return rows.name(changed[0]) if changed[0] < len(rows) else f"row {changed[0] + 1}"


def _change(event, names):
    before, after = spread(event.get("from"), 1)[0], spread(event.get("to"), 1)[0]
    if after is None:
        return f"label {_word(before, names)} taken away"
    return f"{_word(after, names)}{f' instead of {_word(before, names)}' if before not in (None, after) else ''}"


def _word(value, names):
    if isinstance(value, list):
        return "as before"
    return "no label" if value is None else "cannot tell" if value == CANNOT else names.get(value, str(value))
