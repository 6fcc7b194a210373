"""What the events of a journal add up to: labels, classes, settings, and what can be undone."""

from dataclasses import dataclass, field
from typing import Any

CANNOT = "cannot"  # a label that says: nobody can tell
MOST_CLASSES = 254  # an answer is a byte, and 255 is none


def spread(value: Any, number: int) -> list:
    """A value for each of so many rows; events hold one value where it is the same for all."""
    return value if isinstance(value, list) else [value] * number


def folded(values: list) -> Any:
    """The way back from `spread`."""
    return values[0] if values and all(value == values[0] for value in values) else values


@dataclass(frozen=True)
class Given:
    """A label: class number or "cannot", how it came, and the event that gave it."""

    value: Any
    via: str
    rev: int


@dataclass
class Ledger:
    """The present state; `take` makes it follow one more event.

    Attributes
    ----------
    labels : {row: `Given`}. changed : {row: event that changed it last}.
    holder : {row: event whose label it has now}: undo and redo give it back to an older one.
    before, after : {event: {row: holder}} before and after each event.
    keys : {row: fingerprint of its cells}, of all rows that ever had a label.
    drawn : rows that were drawn at random before they were labelled.
    classes : [{"id", "name", "hidden", "merged"}], by number.
    settings : goal, random_share, abstain.
    undoable, redoable : events, the newest last. undone : events that another one took back.
    answered : {id of a request: event}.
    sha256 : of the table that the row numbers speak of.
    lost : labels of rows that are not in the table any more: [{"key", "value", "via", "drawn"}].
    """

    labels: dict = field(default_factory=dict)
    changed: dict = field(default_factory=dict)
    holder: dict = field(default_factory=dict)
    before: dict = field(default_factory=dict)
    after: dict = field(default_factory=dict)
    keys: dict = field(default_factory=dict)
    drawn: set = field(default_factory=set)
    classes: list = field(default_factory=list)
    settings: dict = field(default_factory=dict)
    undoable: list = field(default_factory=list)
    redoable: list = field(default_factory=list)
    undone: set = field(default_factory=set)
    answered: dict = field(default_factory=dict)
    sha256: str | None = None
    lost: list = field(default_factory=list)

    def take(self, event: dict) -> None:
        """Follow an event."""
        rev = event["rev"]
        if event.get("id"):
            self.answered[event["id"]] = rev
        if event["op"] == "file":
            self._move(event)
            return
        rows = event.get("rows", [])
        via = event.get("via", "")
        for row, key, value in zip(rows, spread(event.get("keys"), len(rows)), spread(event.get("to"), len(rows))):
            self.changed[row] = rev
            if key is not None:
                self.keys[row] = key
            if value is None:
                self.labels.pop(row, None)
            else:
                self.labels[row] = Given(value, via, rev)
            if via == "random":
                self.drawn.add(row)
        self.before[rev] = {row: self.holder.get(row) for row in rows}
        old = self.before[event["undoes"]] if "undoes" in event else None
        self.after[rev] = {row: rev if old is None else old[row] for row in rows}
        self.holder |= self.after[rev]
        if "class" in event:
            after = event["class"]["after"]
            self.classes[after["id"] : after["id"] + 1] = [after]
        if "settings" in event:
            self.settings |= event["settings"]["after"]
        self._follow_undo(event, rev)

    def _follow_undo(self, event, rev):
        if event["op"] == "undo":
            self.undone.add(event["undoes"])
            self.undoable = [one for one in self.undoable if one != event["undoes"]]
            self.redoable.append(rev)
        elif event["op"] == "redo":
            self.undone.add(event["undoes"])
            self.redoable = [one for one in self.redoable if one != event["undoes"]]
            self.undoable.append(rev)
        elif event.get("via") != "import":
            self.undoable.append(rev)
            self.redoable.clear()

    def _move(self, event):
        """The table was replaced by another one: labels go where their rows are now."""
        place = dict(zip(event.get("rows", []), event.get("places", [])))
        labels, keys, drawn = self.labels, self.keys, self.drawn
        self.labels, self.keys, self.drawn, self.changed = {}, {}, set(), {}
        found = {one["key"]: one["row"] for one in event.get("found", [])}
        lost, self.lost = self.lost, []
        for one in lost:
            row = found.get(one["key"])
            if row is None or row in place.values():
                self.lost.append(one)
            else:
                self._put(row, one["key"], Given(one["value"], one["via"], event["rev"]), one["drawn"])
        for row, given in labels.items():
            if place.get(row) is None:
                drawn_here = row in drawn
                self.lost.append({"key": keys.get(row), "value": given.value, "via": given.via, "drawn": drawn_here})
            else:
                self._put(place[row], keys.get(row), Given(given.value, given.via, event["rev"]), row in drawn)
        self.sha256 = event["sha256"]
        self.holder, self.before, self.after, self.undoable, self.redoable = {}, {}, {}, [], []

    def _put(self, row, key, given, drawn):
        self.labels[row], self.keys[row], self.changed[row] = given, key, given.rev
        if drawn:
            self.drawn.add(row)

    def value(self, row: int) -> Any:
        """The class of a row, "cannot", or None."""
        return self.labels[row].value if row in self.labels else None

    def label(self, rows: list, value: Any) -> dict:
        """The part of an event that gives rows a label, or takes it away (None)."""
        return {"rows": rows, "from": folded([self.value(row) for row in rows]), "to": value}

    def inverse(self, event: dict) -> dict | None:
        """The part of an event that takes another one back, as far as nothing newer stands in its way; else None."""
        rows, number = event.get("rows", []), len(event.get("rows", []))
        back = [
            (row, before, after)
            for row, before, after in zip(rows, spread(event.get("from"), number), spread(event.get("to"), number))
            if self.holder.get(row) == self.after[event["rev"]][row]
        ]
        found: dict = {}
        if back:
            found |= {
                "rows": [row for row, _, _ in back],
                "from": folded([after for _, _, after in back]),
                "to": folded([before for _, before, _ in back]),
            }
        if "class" in event and self.classes[event["class"]["after"]["id"]] == event["class"]["after"]:
            found["class"] = {"before": event["class"]["after"], "after": event["class"]["before"]}
        if "settings" in event:
            found["settings"] = {"before": event["settings"]["after"], "after": event["settings"]["before"]}
        return found or None

    def labelling(self) -> tuple[list, list, list]:
        """(rows, class numbers, whether each was drawn at random) of all labels that name a class."""
        rows = sorted(row for row, given in self.labels.items() if given.value != CANNOT)
        return rows, [self.labels[row].value for row in rows], [row in self.drawn for row in rows]

    def cannot_tell(self) -> int:
        """How many of the rows drawn at random nobody could tell."""
        return sum(given.value == CANNOT and row in self.drawn for row, given in self.labels.items())

    def open_classes(self) -> list:
        """The classes that a label may name."""
        return [one for one in self.classes if one["merged"] is None]
