"""From a request of the page to the part of an event that does it, or to a sentence on why it is not done."""

from typing import Any

from .ledger import CANNOT, MOST_CLASSES, Ledger, folded

VIA = ("queue", "random", "lasso", "click", "review")
SETTINGS = ("goal", "random_share", "abstain")
TOLD = ("shown", "base_rev", "ms", "tab")  # of a label: what was on the screen, how long it took


class Refused(Exception):
    """A request that is not done: HTTP status and a sentence."""

    def __init__(self, status: int, sentence: str):
        super().__init__(sentence)
        self.status = status


def labelled(ledger: Ledger, rows: list, value: Any, via: str, key: Any) -> dict:
    """A label for rows, or none (None); `key` is a function from a row to its fingerprint."""
    return {"op": "label", **ledger.label(rows, value), "keys": folded([key(row) for row in rows]), "via": via}


def label(ledger: Ledger, body: dict, n: int, offered: set, key: Any) -> dict:
    """Give rows a class, "cannot", or none; a row counts as random only where it was offered as such."""
    rows, value, via = body.get("rows"), body.get("class"), body.get("via", "click")
    if not isinstance(rows, list) or not rows or not all(type(row) is int and 0 <= row < n for row in rows):
        raise Refused(400, f"rows are not accepted: give a list of row numbers from 0 to {n - 1}.")
    if value is not None and value != CANNOT:
        _class(ledger, value)
    if via not in VIA:
        raise Refused(400, f"via={via!r} is not accepted: give one of {', '.join(VIA)}.")
    if via == "random" and not set(rows) <= offered | ledger.drawn:
        via = "click"
    more = {name: body[name] for name in TOLD if type(body.get(name)) in (int, float, str)}
    return labelled(ledger, list(dict.fromkeys(rows)), value, via, key) | more


def back(ledger: Ledger, events: list, op: str, rev: Any) -> dict:
    """Take an event back ("undo"), or an undo ("redo"); by default the newest."""
    stack = ledger.undoable if op == "undo" else ledger.redoable
    rev = rev if rev is not None else (stack[-1] if stack else None)
    if type(rev) is not int or rev not in stack:
        raise Refused(409, f"There is nothing to {op}.")
    change = ledger.inverse(events[rev - 1])
    if change is None:
        raise Refused(409, "Newer events changed all of this again.")
    return {"op": op, "undoes": rev, "via": "undo", **change}


def settings(ledger: Ledger, body: dict) -> dict:
    """Another goal, share of random rows, or confidence below which rows are left unlabelled."""
    wanted = {name: body[name] for name in SETTINGS if name in body}
    for name, value in wanted.items():
        if (value is not None or name != "abstain") and (type(value) not in (int, float) or not 0 <= value <= 1):
            raise Refused(400, f"{name}={value!r} is not accepted: give a number from 0 to 1.")
    if not wanted:
        raise Refused(400, "Give goal, random_share or abstain.")
    before = {name: ledger.settings.get(name) for name in wanted}
    return {"op": "settings", "settings": {"before": before, "after": wanted}}


def new_class(ledger: Ledger, name: str, via: str = "click") -> dict:
    """One more class."""
    if len(ledger.classes) >= MOST_CLASSES:
        raise Refused(409, f"There are {MOST_CLASSES} classes already, the most that can be.")
    new = {"id": len(ledger.classes), "name": str(name), "hidden": False, "merged": None}
    return {"op": "add", "class": {"before": new | {"hidden": True}, "after": new}, "via": via}


def classes(ledger: Ledger, body: dict) -> dict:
    """Add, rename, merge, hide or show a class."""
    op = body.get("op")
    if op == "add":
        return new_class(ledger, _name(ledger, body))
    if op not in ("rename", "merge", "hide", "show"):
        raise Refused(400, f"op={op!r} is not accepted: give add, rename, merge, hide or show.")
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
