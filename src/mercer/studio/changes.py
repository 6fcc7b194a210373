"""Turn requests of the page into events of the journal, or refuse them with a sentence."""

import math
from collections.abc import Callable, Collection
from typing import Any

from .drawing import Draw
from .ledger import CANNOT, MOST_CLASSES, Ledger, folded

VIA = ("queue", "random", "lasso", "list", "click", "review")
SETTINGS = ("goal", "random_share", "abstain", "double_share", "tolerance")
KEYS = ("", *(shift + str(digit) for shift in ("", "⇧") for digit in range(10)), *"abcdehiopqvwy")  # of a class
LONGEST = 2000  # characters of a guideline or a note
REQUEST_FACTS = ("shown", "base_rev", "ms")  # of a label, such as the guess on the screen and the time it took


class Refused(Exception):
    """A request that is refused, with an HTTP status and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def labeled(ledger: Ledger, rows: list, value: object, via: str, key: Callable[[int], str]) -> dict:
    """A label for rows, or none (None). `key` is a function from a row to its fingerprint."""
    return {"op": "label", **ledger.label(rows, value), "keys": folded([key(row) for row in rows]), "via": via}


def begin(sha256: str, names: list, rows: list, ids: list, keys: list) -> dict:
    """The first event of a session, with the classes and labels that the table contains."""
    classes = [_new(i, name) for i, name in enumerate(names)]
    imported = {"rows": rows, "from": None, "to": folded(ids), "keys": folded(keys)} if rows else {}
    return {"op": "begin", "sha256": sha256, "classes": classes, "via": "import", **imported}


def begin_numbers(sha256: str, rows: list, numbers: list, keys: list) -> dict:
    """The same for a target of numbers."""
    return begin(sha256, [], rows, [float(number) for number in numbers], keys) | {"kind": "number"}


def label(
    ledger: Ledger, body: dict, n: int, draw: Draw, key: Callable[[int], str], doubles: Collection[int] = ()
) -> dict:
    """Give rows a class, "cannot", or none. If the labels are numbers, `class` is the number of one row.

    One of the `doubles` keeps its label, and gets a second label.

    A label counts as that of a random check only if the row was drawn as one. Rows that were labeled in bulk can still
    be drawn. If checks with a label are among them, the event contains the label that they would have got. Rows that
    another person has labeled differently in the meantime keep that label.
    """
    rows, value, via = _rows(body, n), body.get("class"), body.get("via", "click")
    if ledger.numeric and value is not None:
        value = _number(value, rows)
    elif value is not None and value != CANNOT:
        _class(ledger, value)
    if via not in VIA:
        raise Refused(400, f"Invalid via={via!r}; expected one of {', '.join(VIA)}.")
    more = request_facts(body)
    if set(rows) & set(doubles) and value is not None:
        if len(rows) == 1:
            return second(ledger, rows[0], value) | more
        rows = [row for row in rows if row not in set(doubles)]
        if not rows:
            raise Refused(
                409, "Another annotator labeled these rows, and each needs a second label. Label them singly."
            )
    taken = _taken(ledger, body, rows, value)
    if len(taken) == len(rows):
        return {"op": "disagree", "rows": rows, "to": value, "found": folded(list(taken.values())), "via": via} | more
    rows = [row for row in rows if row not in taken]
    offered = draw.offered(ledger)
    if via in ("lasso", "list") and body.get("unseen") is True and type(value) is int:
        near = _rows({"rows": [*rows, *(body.get("around") or [])]}, n)
        rows = [row for row in rows if row not in ledger.checks]
        if not rows:
            raise Refused(409, "All of these rows are random checks that have a label. Label them one by one.")
        given = set(rows)
        around = [row for row in near if (row in ledger.checks or row in offered) and row not in given]
        return labeled(ledger, rows, value, via, key) | {"unseen": True, "around": around} | more
    if via == "random" and not all(row in ledger.checks or row in offered for row in rows):
        via = "click"
    waiting = set(offered if via == "random" else draw.waiting(ledger))
    checks = [row for row in rows if row in waiting] if value is not None else []
    event = labeled(ledger, rows, value, via, key) | ({"unseen": False} if via in ("lasso", "list") else {})
    return event | ({"checks": checks} if checks or via == "random" else {}) | more


def _number(value: object, rows: list) -> float | str:
    """The number for a row, or "cannot"."""
    if len(rows) > 1:
        raise Refused(400, f"Invalid rows; expected one row, because {len(rows)} rows seldom have the same number.")
    if value == CANNOT:
        return CANNOT
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise Refused(400, f"Invalid number {str(value)[:40]!r}; expected a number such as 12.5.")
    return float(value)


def refuse_numbers(ledger: Ledger, what: str) -> None:
    """Refuse a request that only a target of classes has."""
    if ledger.numeric:
        raise Refused(409, f"The labels of this session are numbers. {what}")


def keep_promise(ledger: Ledger, body: dict, key: Callable[[int], str], promise: dict | None, hidden: set) -> dict:
    """Give rows the predictions that can be accepted with a promise, see `promise.promise_of`."""
    found = dict(zip(promise["rows"], promise["classes"])) if promise else {}
    open_rows = {row: c for row, c in found.items() if row not in ledger.labels or ledger.accepted(row)}
    given = {row: c for row, c in open_rows.items() if row not in hidden and ledger.value(row) != c}
    if promise is None or not given:
        raise Refused(409, promise["facts"]["text"] if promise else "There is no prediction to accept yet.")
    around = promise["around"] | {row: c for row, c in open_rows.items() if row in hidden}
    said = {name: promise["facts"][name] for name in ("wrong_at_most", "certainty", "checks", "wrong")}
    return _accepting(ledger, given, around, key) | {"promise": said} | request_facts(body)


def accept(ledger: Ledger, body: dict, n: int, key: Callable[[int], str], answer: Any, hidden: set) -> dict:
    """Give rows that no one looked at the class that is predicted for them with at least some confidence.

    Random checks among them stay open, or keep their label. The event contains the label that they would have got.
    """
    above: Any = body.get("above")
    wanted = body.get("class")
    if type(above) not in (int, float) or not 0.5 <= above <= 1:
        raise Refused(400, f"Invalid above={above!r}; expected a confidence from 0.5 to 1.")
    if wanted is not None:
        _class(ledger, wanted)
    if answer is None:
        raise Refused(409, "There is no prediction to accept yet. Label rows of two classes first.")
    rows = range(n) if body.get("rows") is None else _rows(body, n)
    given: dict = {}
    around: dict = {}
    for row in rows:
        if row in ledger.checks and ledger.value(row) != CANNOT:
            value, sure = answer.held_out.get(row, (None, 0.0))
        elif row in ledger.labels and row not in ledger.checks:
            continue
        else:
            value, sure = answer.guess(row)
        if value is None or sure < above or wanted not in (None, value):
            continue
        (around if row in hidden or row in ledger.checks else given)[row] = value
    if not given:
        raise Refused(409, f"No unlabeled row has a guess with at least {100 * above:.0f}%.")
    return _accepting(ledger, given, around, key) | request_facts(body)


def _accepting(ledger: Ledger, given: dict, around: dict, key: Callable[[int], str]) -> dict:
    event = labeled(ledger, list(given), folded(list(given.values())), "accept", key) | {"unseen": True}
    return event | {"around": list(around), "around_to": folded(list(around.values()))}


def second(ledger: Ledger, row: int, value: object) -> dict:
    """A second label for a row that another annotator labeled. None postpones it."""
    first = {"annotator": ledger.annotator(row), "to": ledger.value(row)}
    return {"op": "second", "second": row, "to": value, "first": first, "via": "double"}


def skip(
    ledger: Ledger, body: dict, n: int, draw: Draw, key: Callable[[int], str], doubles: Collection[int] = ()
) -> dict:
    """Go on without a label. A check comes back, and so does one of the `doubles`."""
    asked = [row for row in _rows(body, n) if row in set(doubles)]
    if asked:
        return second(ledger, asked[0], None) | request_facts(body)
    rows = [row for row in _rows(body, n) if row not in ledger.labels or ledger.unseen(row)]
    if not rows:
        raise Refused(409, "These rows have a label already.")
    via = "random" if set(rows) <= draw.offered(ledger) and body.get("via") == "random" else "queue"
    return {"op": "skip", "skipped": rows, "keys": folded([key(row) for row in rows]), "via": via} | request_facts(body)


def note(ledger: Ledger, body: dict, n: int, key: Callable[[int], str]) -> dict:
    """Write a note on a row. An empty text removes it."""
    row, text = body.get("row"), body.get("note")
    if type(row) is not int or not 0 <= row < n:
        raise Refused(400, f"Invalid row; expected a row number from 0 to {n - 1}.")
    if not isinstance(text, str) or len(text) > LONGEST:
        raise Refused(400, f"The note is too long; expected at most {LONGEST} characters.")
    return {"op": "note", "note": {"row": row, "before": ledger.notes.get(row, ""), "after": text, "key": key(row)}}


def request_facts(body: dict) -> dict:
    """The parts of a request that describe it, such as the guess on the screen and the time it took."""
    return {name: body[name] for name in REQUEST_FACTS if type(body.get(name)) in (int, float, str)}


def _rows(body: dict, n: int) -> list:
    rows = body.get("rows")
    if not isinstance(rows, list) or not rows or not all(type(row) is int and 0 <= row < n for row in rows):
        raise Refused(400, f"Invalid rows; expected a list of row numbers from 0 to {n - 1}.")
    return list(dict.fromkeys(rows))


def _taken(ledger: Ledger, body: dict, rows: list, value: int | str | None) -> dict:
    """{row: label} of rows that somebody else labeled, differently, after this page was last in step."""
    base, who = body.get("base_rev"), body.get("who")
    if type(base) is not int or not isinstance(who, str):
        return {}
    return {
        row: ledger.value(row)
        for row in rows
        if ledger.changed.get(row, 0) > base
        and ledger.author.get(row) not in (None, who)
        and ledger.value(row) not in (None, value)
        and not ledger.unseen(row)
    }


def back(ledger: Ledger, events: list, op: str, rev: object, who: object = None) -> dict:
    """Take an event back ("undo"), or an undo ("redo"). The default is the newest one, of person `who` if given."""
    stack = ledger.undoable if op == "undo" else ledger.redoable
    own = [one for one in stack if who is None or events[one - 1].get("who", who) == who]
    if rev is None and stack and not own:
        raise Refused(409, f"There is nothing of yours to {op}. What others did can be undone in History.")
    rev = rev if rev is not None else (own[-1] if own else None)
    if type(rev) is not int or rev not in stack:
        raise Refused(409, f"There is nothing to {op}.")
    change = ledger.inverse(events[rev - 1])
    if change is None:
        raise Refused(409, "Newer events changed all of this again.")
    return {"op": op, "undoes": rev, "via": "undo", **change}


def settings(ledger: Ledger, body: dict) -> dict:
    """Change the goal, the fraction of random rows, the lowest confidence of a prediction, or the tolerance."""
    wanted = {name: body[name] for name in SETTINGS if name in body}
    size = wanted.get("tolerance")
    if size is not None and not (type(size) in (int, float) and 0 < size < math.inf):
        raise Refused(400, f"Invalid tolerance={size!r}; expected a number above 0.")
    for name, value in wanted.items():
        if name == "tolerance":
            continue
        if (value is not None or name != "abstain") and (type(value) not in (int, float) or not 0 <= value <= 1):
            raise Refused(400, f"Invalid {name}={value!r}; expected a number from 0 to 1.")
    if not wanted:
        raise Refused(400, f"Give {', '.join(SETTINGS[:-1])} or {SETTINGS[-1]}.")
    before = {name: ledger.settings.get(name) for name in wanted}
    return {"op": "settings", "settings": {"before": before, "after": wanted}}


def new_class(ledger: Ledger, name: str, via: str = "click") -> dict:
    """One more class."""
    if len(ledger.classes) >= MOST_CLASSES:
        raise Refused(409, f"There are {MOST_CLASSES} classes already, the most that can be.")
    new = _new(len(ledger.classes), name)
    return {"op": "add", "class": {"before": new | {"hidden": True}, "after": new}, "via": via}


def _new(number: int, name: str) -> dict:
    return {"id": number, "name": str(name), "hidden": False, "merged": None}


def classes(ledger: Ledger, body: dict) -> dict:
    """Add, rename, merge, hide or show a class."""
    refuse_numbers(ledger, "They have no classes.")
    op = body.get("op")
    if op == "add":
        return new_class(ledger, _name(ledger, body))
    if op not in ("rename", "merge", "hide", "show", "describe"):
        raise Refused(400, f"Invalid op={op!r}; expected add, rename, merge, hide, show or describe.")
    old, more = _class(ledger, body.get("class")), {}
    if op == "rename":
        new = old | {"name": _name(ledger, body)}
    elif op == "merge":
        into = _class(ledger, body.get("into"))
        if into is old:
            raise Refused(400, "A class cannot be merged into itself.")
        new = old | {"merged": into["id"]}
        rows = sorted(row for row, given in ledger.labels.items() if given.value == old["id"])
        more = ledger.label(rows, into["id"]) | {"via": "click"} if rows else {}
    elif op == "describe":
        new = old | _described(ledger, body, old)
    else:
        new = old | {"hidden": op == "hide"}
    return {"op": op, "class": {"before": old, "after": new}, **more}


def _class(ledger, number):
    if type(number) is not int or not 0 <= number < len(ledger.classes):
        raise Refused(400, f"There is no class {number!r}.")
    if ledger.classes[number]["merged"] is not None:
        raise Refused(409, f"The class {ledger.classes[number]['name']!r} was merged into another one.")
    return ledger.classes[number]


def _name(ledger, body):
    name = body.get("name")
    if not isinstance(name, str) or not name.strip() or len(name) > 200:
        raise Refused(400, "Give the class a name of 1 to 200 characters.")
    if any(one["name"] == name.strip() for one in ledger.open_classes()):
        raise Refused(409, f"There is a class {name.strip()!r} already.")
    return name.strip()


def _described(ledger, body, old) -> dict:
    """The guideline and the key of a class. An empty text removes them."""
    note, key = body.get("note", old.get("note", "")), body.get("key", old.get("key", ""))
    if not isinstance(note, str) or len(note) > LONGEST:
        raise Refused(400, f"The guideline is too long; expected at most {LONGEST} characters.")
    if key not in KEYS:
        raise Refused(
            400, f"Invalid key {str(key)[:20]!r}; expected 0 to 9, ⇧0 to ⇧9, or a letter that has no other use."
        )
    if key and any(one.get("key") == key and one["id"] != old["id"] for one in ledger.open_classes()):
        raise Refused(409, f"Another class has the key {key} already.")
    return {"note": note, "key": key}
