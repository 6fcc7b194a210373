"""The state after the events of a journal, with labels, classes, settings and the events that can be undone."""

from dataclasses import dataclass, field

CANNOT = "cannot"  # the label of a row that cannot be classified
MOST_CLASSES = 254  # a predicted class is a byte, and 255 is none
MOVED = 0  # instead of the event of a label from an earlier version of the table
MANY = 12  # rows that a sheet shows; in older journals, rows of a larger lasso were not looked at


def spread(value: object, number: int) -> list:
    """A value for each of so many rows. Events contain a single value if it is the same for all."""
    return value if isinstance(value, list) else [value] * number


def folded(values: list) -> object:
    """The inverse of `spread`."""
    return values[0] if values and all(value == values[0] for value in values) else values


def named(value: object, names: dict) -> str:
    """A label as text. `names` are those of the classes."""
    if value == CANNOT:
        return "cannot tell"
    return f"{value:.15g}" if isinstance(value, float) else names[value]


@dataclass(frozen=True)
class Given:
    """A label (class number, number or "cannot"), how it came, and the event that gave it."""

    value: int | float | str
    via: str
    rev: int


@dataclass(frozen=True)
class First:
    """The first label of a random check and its event. The certificate counts it, even if the label changes later."""

    value: int | float | str | None
    rev: int


@dataclass
class Ledger:
    """The present state. `take` makes it follow one more event.

    Attributes
    ----------
    labels : {row: `Given`}. changed : {row: event that changed it last}.
    holder : {row: event whose label it has now}. Undo and redo set it to an older event.
    before, after : {event: {row: holder}}, before and after each event.
    keys : {row: fingerprint of its cells}, of all rows that ever had a label.
    checks : {row: `First`} of the random checks that have a label.
    bulk : {row: [(event, class)]}: labels that a row got in bulk, or would have got without the check.
    unlooked : events that labeled rows in bulk. accepting : events that accepted predictions.
    skipped : {row: (event, whether it was a random check)}. begun : the event that read the present table.
    undoer : {event: the one that took it back}. author : {row: who changed it last}.
    annotators : {event: name of the annotator}. moved : {row: name}, of labels from an earlier version of the table.
    seconds : {row: {second annotator: (annotator, label, second label)}}, given without a look at the first one.
    postponed : {(row, annotator): event}: skipped questions for a second label.
    classes : [{"id", "name", "hidden", "merged"}], by number.
    numeric : whether the labels are numbers, always floats, instead of classes.
    settings : goal, random_share, abstain, double_share, tolerance. retuned : how often the tolerance was changed after
        a check.
    undoable, redoable : events, the newest last. undone : events that another one took back.
    answered : {id of a request: event}.
    sha256 : of the table that the row numbers belong to.
    notes : {row: text}.
    lost : labels of rows that are not in the table any more: [{"key", "value", "via", "drawn"}].
    """

    labels: dict = field(default_factory=dict)
    changed: dict = field(default_factory=dict)
    holder: dict = field(default_factory=dict)
    before: dict = field(default_factory=dict)
    after: dict = field(default_factory=dict)
    keys: dict = field(default_factory=dict)
    checks: dict = field(default_factory=dict)
    bulk: dict = field(default_factory=dict)
    unlooked: set = field(default_factory=lambda: {MOVED})
    accepting: set = field(default_factory=set)
    skipped: dict = field(default_factory=dict)
    begun: int = 0
    undoer: dict = field(default_factory=dict)
    author: dict = field(default_factory=dict)
    annotators: dict = field(default_factory=dict)
    moved: dict = field(default_factory=dict)
    seconds: dict = field(default_factory=dict)
    postponed: dict = field(default_factory=dict)
    classes: list = field(default_factory=list)
    numeric: bool = False
    settings: dict = field(default_factory=dict)
    retuned: int = 0
    undoable: list = field(default_factory=list)
    redoable: list = field(default_factory=list)
    undone: set = field(default_factory=set)
    answered: dict = field(default_factory=dict)
    sha256: str | None = None
    notes: dict = field(default_factory=dict)
    lost: list = field(default_factory=list)

    def take(self, event: dict) -> None:
        """Follow an event."""
        rev = event["rev"]
        if event.get("id"):
            self.answered[event["id"]] = rev
        if event.get("annotator"):
            self.annotators[rev] = event["annotator"]
        if event["op"] == "file":
            self._move(event)
            return
        if event["op"] == "second":
            self._second(event)
        if event["op"] in ("disagree", "second"):
            return
        rows = event.get("rows", [])
        via = event.get("via", "")
        if event["op"] == "begin":
            self.sha256, self.begun, self.classes = event["sha256"], rev, [dict(one) for one in event["classes"]]
            self.numeric = event.get("kind") == "number"
        for row, key, value in zip(rows, spread(event.get("keys"), len(rows)), spread(event.get("to"), len(rows))):
            self.changed[row], self.author[row] = rev, event.get("who")
            if key is not None:
                self.keys[row] = key
            if value is None:
                self.labels.pop(row, None)
            else:
                self.labels[row] = Given(value, via, rev)
        self._count(event, rows, via)
        self._skip(event, via)
        self.before[rev] = {row: self.holder.get(row) for row in rows}
        old = self.before[event["undoes"]] if "undoes" in event else None
        self.after[rev] = {row: rev if old is None else old[row] for row in rows}
        self.holder |= self.after[rev]
        if "class" in event:
            after = event["class"]["after"]
            self.classes[after["id"] : after["id"] + 1] = [after]
        if "settings" in event:
            before, after = (event["settings"][end].get("tolerance") for end in ("before", "after"))
            self.retuned += bool(self.checks and before is not None and before != after)
            self.settings |= event["settings"]["after"]
        if "note" in event:
            self._note(**event["note"])
        self._follow_undo(event, rev)

    def _second(self, event: dict) -> None:
        """Keep a second label for a row, or a skipped question for one. The first label stays."""
        row, name = event["second"], event["annotator"]
        self.changed[row] = event["rev"]
        if event["to"] is None:
            self.postponed[row, name] = event["rev"]
        else:
            first = event["first"]
            self.seconds.setdefault(row, {}).setdefault(name, (first["annotator"], first["to"], event["to"]))

    def annotator(self, row: int) -> str | None:
        """The name of the annotator who gave the label that a row has now."""
        return self.annotators.get(self.holder.get(row, 0)) or self.moved.get(row)

    def _count(self, event: dict, rows: list, via: str) -> None:
        """Count the checks and the rows in bulk that an event labels."""
        value, rev = event.get("to"), event["rev"]
        if event["op"] != "label":
            return
        unseen = event.get("unseen", via == "lasso" and len(rows) > MANY) and value is not None
        near = event.get("around", [])
        values = dict(zip(rows, spread(value, len(rows))))
        values |= dict(zip(near, spread(event.get("around_to", value), len(near))))
        if unseen:
            self.unlooked.add(rev)
        if via == "accept":
            self.accepting.add(rev)
        for row in values if unseen else rows if value is None else []:
            if unseen or row in self.bulk:
                self.bulk.setdefault(row, []).append((rev, values[row]))
        if value is not None:
            for row in event.get("checks", rows if via == "random" else []):
                self.checks.setdefault(row, First(value, rev))
            if not unseen:
                for row in rows:
                    self.skipped.pop(row, None)

    def _note(self, row: int, before: str, after: str, key: str) -> None:
        self.keys[row] = key
        self.notes.pop(row, None)
        if after:
            self.notes[row] = after

    def _skip(self, event: dict, via: str) -> None:
        keys = spread(event.get("keys"), len(event.get("skipped", [])))
        for row, key in zip(event.get("skipped", []), keys):
            self.skipped[row] = event["rev"], via == "random"
            if key is not None:
                self.keys[row] = key
        for row in event.get("unskipped", []):
            self.skipped.pop(row, None)

    def _follow_undo(self, event: dict, rev: int) -> None:
        if "undoes" in event:
            self.undoer[event["undoes"]] = rev
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

    def _move(self, event: dict) -> None:
        """Move labels, checks and skips to the rows of a table that replaced the earlier one."""
        place = dict(zip(event.get("rows", []), event.get("places", [])))
        lost, self.lost, rev = self.lost, [], event["rev"]
        notes = {place[row]: (note, self.keys[row]) for row, note in self.notes.items() if place.get(row) is not None}
        held = [self._held(row, place.get(row)) for row in sorted({*self.labels, *self.checks, *self.skipped})]
        self.labels, self.keys, self.checks, self.bulk, self.skipped = {}, {}, {}, {}, {}
        self.moved, self.seconds, self.postponed = {}, {}, {}
        self.changed, self.author, self.holder, self.before, self.after = {}, {}, {}, {}, {}
        self.undoable, self.redoable, self.sha256, self.begun = [], [], event["sha256"], rev
        found = {one["key"]: one["row"] for one in event.get("found", [])}
        for one in lost:
            row = found.get(one["key"])
            held.append(one | {"row": None if row in place.values() else row})
        self.notes = {}
        for row, (note, key) in notes.items():
            self._note(row, "", note, key)
        for one in held:
            if one["row"] is not None:
                self._put(one["row"], one, rev)
            elif one["value"] is not None:
                self.lost.append({name: value for name, value in one.items() if name != "row"})

    def _held(self, row: int, place: int | None) -> dict:
        """Everything that is known of a row, with its number in the new table."""
        given, first = self.labels.get(row), self.checks.get(row)
        return {
            "row": place,
            "key": self.keys.get(row),
            "value": given and given.value,
            "via": given and given.via,
            "unseen": self.unseen(row),
            "first": first and first.value,
            "bulk": self.bulk_label(row),
            "skipped": self.skipped.get(row, (0, None))[1],
            "annotator": self.annotator(row),
            "seconds": self.seconds.get(row),
        }

    def _put(self, row: int, one: dict, rev: int) -> None:
        self.keys[row], self.changed[row] = one["key"], rev
        if one["value"] is not None:
            self.labels[row] = Given(one["value"], one["via"], rev)
        if one["unseen"]:
            self.holder[row] = MOVED
        if one["first"] is not None:
            self.checks[row] = First(one["first"], rev)
        if one["bulk"] is not None:
            self.bulk[row] = [(MOVED, one["bulk"])]
        if one["skipped"] is not None:
            self.skipped[row] = rev, one["skipped"]
        self.moved |= {row: one["annotator"]} if one["annotator"] else {}
        self.seconds |= {row: one["seconds"]} if one["seconds"] else {}

    def in_force(self, rev: int) -> bool:
        """Whether an event was not taken back, or was but that was taken back in turn."""
        return rev not in self.undoer or not self.in_force(self.undoer[rev])

    def unseen(self, row: int) -> bool:
        """Whether a row has a label that was given in bulk, without a look."""
        return row in self.labels and self.holder.get(row) in self.unlooked

    def accepted(self, row: int) -> bool:
        """Whether the label of a row is an accepted prediction. The model does not learn from these."""
        return row in self.labels and (self.labels[row].via == "accept" or self.holder.get(row) in self.accepting)

    def bulk_label(self, row: int) -> int | float | str | None:
        """The class that a row got in bulk, or would have got if it were not a check."""
        return self.resolved(self._bulk(row)[1])

    def as_predicted(self, row: int) -> bool:
        """Whether that class was a prediction that was accepted."""
        return self._bulk(row)[0] in self.accepting

    def _bulk(self, row: int) -> tuple:
        found: tuple = None, None
        for rev, value in self.bulk.get(row, ()):
            if self.in_force(rev):
                found = (None, None) if value is None else (rev, value) if found[1] is None else found
        return found

    def resolved(self, value: int | float | str | None) -> int | float | str | None:
        """The class into which a class was merged."""
        while isinstance(value, int) and self.classes[value]["merged"] is not None:
            value = self.classes[value]["merged"]
        return value

    def outcomes(self) -> list:
        """[(row, first label, label given in bulk or None)] of all checks that have a label."""
        return [(row, self.resolved(first.value), self.bulk_label(row)) for row, first in sorted(self.checks.items())]

    def value(self, row: int) -> int | float | str | None:
        """The class or number of a row, "cannot", or None."""
        return self.labels[row].value if row in self.labels else None

    def label(self, rows: list, value: object) -> dict:
        """The part of an event that sets the label of rows, or removes it (None)."""
        return {"rows": rows, "from": folded([self.value(row) for row in rows]), "to": value}

    def inverse(self, event: dict) -> dict | None:
        """The part of an event that takes another one back, for rows without newer events. None if there are none."""
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
        again = [row for row in event.get("skipped", []) if self.skipped.get(row, (0,))[0] == event["rev"]]
        gone = [row for row in event.get("unskipped", []) if row not in self.skipped and row not in self.labels]
        found |= ({"unskipped": again} if again else {}) | ({"skipped": gone} if gone else {})
        note = event.get("note")
        if note and self.notes.get(note["row"], "") == note["after"]:
            found["note"] = note | {"before": note["after"], "after": note["before"]}
        if "settings" in event:
            found["settings"] = {"before": event["settings"]["after"], "after": event["settings"]["before"]}
        return found or None

    def labeling(self) -> tuple[list, list, list]:
        """(rows, class numbers or numbers, whether each was drawn at random) of the labels that a person gave."""
        rows = sorted(row for row, given in self.labels.items() if given.value != CANNOT and not self.accepted(row))
        return rows, [self.labels[row].value for row in rows], [row in self.checks for row in rows]

    def open_classes(self) -> list:
        """The classes that a label may name."""
        return [one for one in self.classes if one["merged"] is None]
