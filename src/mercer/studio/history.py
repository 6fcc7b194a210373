"""Describe the events of the journal in sentences."""

from typing import TYPE_CHECKING

from .ledger import CANNOT, Ledger, named, spread

if TYPE_CHECKING:
    from .table import TableRows

SHOWN = 12  # rows of an event that are named


def history(events: list, ledger: Ledger, rows: "TableRows", before: int, limit: int, hidden: set | frozenset) -> list:
    """The events before a revision, for the page. The newest comes first. Labels of `hidden` rows are left out."""
    names = {one["id"]: one["name"] for one in ledger.classes}
    out: list = []
    for event in reversed(events[: max(before - 1, 0)]):
        if len(out) == limit:
            break
        changed = event.get("rows", [])
        blind = len(changed) == 1 and changed[0] in hidden
        out.append(
            {
                "rev": event["rev"],
                "t": event["t"],
                "op": event["op"],
                "rows": changed[:SHOWN],
                "count": len(changed),
                "from": None if blind else _some(event.get("from")),
                "to": None if blind else _some(event.get("to")),
                "via": event.get("via"),
                "undone": event["rev"] in ledger.undone,
                "undoable": event["rev"] in ledger.undoable,
                "text": f"{_rows(event, rows)}: hidden until you label it" if blind else _sentence(event, names, rows),
                "annotator": event.get("annotator"),
            }
        )
    return out


def said(event: dict, ledger: Ledger, rows: "TableRows") -> str:
    """An event in words."""
    return _sentence(event, {one["id"]: one["name"] for one in ledger.classes}, rows)


def _some(value):
    return value[:SHOWN] if isinstance(value, list) else value


def _sentence(event, names, rows):
    if event["op"] == "begin":
        labels = len(event.get("rows", []))
        return f"The table was read{f' with {labels} labels' if labels else ''}"
    if event["op"] == "second":
        answer = "skipped" if event["to"] is None else _word(event["to"], names)
        return f"{_named([event['second']], rows)}: second label by {event['annotator']}, {answer}"
    if event["op"] == "skip":
        return f"{_named(event['skipped'], rows)}: skipped"
    if event["op"] == "note":
        return f"{_named([event['note']['row']], rows)}: note {event['note']['after']!r}"
    if event["op"] == "disagree":
        found = _word(event.get("found"), names)
        return f"{_rows(event, rows)}: {_word(event.get('to'), names)} was not taken, labeled {found} by somebody else"
    if event.get("via") == "accept":
        most = f", at most {event['promise']['wrong_at_most']:.0%} wrong" if "promise" in event else ""
        return f"{_rows(event, rows)}: accepted as predicted{most}"
    if event["op"] == "label":
        return f"{_rows(event, rows)}: {_change(event, names)}"
    if event["op"] in ("undo", "redo"):
        what = f": {_rows(event, rows)} → {_word(event.get('to'), names)}" if event.get("rows") else ""
        return f"{'Undid' if event['op'] == 'undo' else 'Redid'} event {event['undoes']}{what}"
    if event["op"] == "settings":
        return "Settings: " + ", ".join(f"{name} {value}" for name, value in event["settings"]["after"].items())
    if event["op"] == "file":
        lost = sum(place is None for place in event.get("places", []))
        return f"The table was read{f', and {lost} labeled rows are not in it any more' if lost else ''}"
    old, new = event["class"]["before"], event["class"]["after"]
    return {
        "add": f"Added the class {new['name']}",
        "rename": f"Renamed the class {old['name']} to {new['name']}",
        "merge": f"Merged the class {old['name']} into {names.get(new['merged'])}",
        "hide": f"Hid the class {new['name']}",
        "show": f"Showed the class {new['name']}",
        "describe": f"Changed the guideline or key of {new['name']}",
    }[event["op"]]


def _rows(event: dict, rows: "TableRows") -> str:
    return _named(event["rows"], rows)


def _named(changed, rows):
    if len(changed) > 1:
        return f"{len(changed)} rows"
    return rows.name(changed[0]) if changed[0] < len(rows) else f"row {changed[0] + 1}"


def _change(event, names):
    before, after = spread(event.get("from"), 1)[0], spread(event.get("to"), 1)[0]
    if after is None:
        return f"label {_word(before, names)} removed"
    return f"{_word(after, names)}{f' instead of {_word(before, names)}' if before not in (None, after) else ''}"


def _word(value, names):
    if isinstance(value, list):
        return "as before"
    return "no label" if value is None else "can't tell" if value == CANNOT else named(value, names)


def event_message(event: dict) -> tuple[str, dict]:
    """(name, content) of an event for the tabs of the page."""
    names = ("rev", "op", "rows", "to", "via", "id", "tab", "undoes", "note")
    return "label", {name: event[name] for name in names if name in event}
