"""Labels, classes and settings as the sum of events; undo as one more event."""

import random

import pytest

from mercer.studio import changes
from mercer.studio.changes import Refused
from mercer.studio.drawing import Draw
from mercer.studio.ledger import Ledger, folded, spread


class Book:
    """A ledger with its events."""

    def __init__(self):
        self.ledger, self.events = Ledger(settings={"goal": 0.9, "random_share": 0.25, "abstain": None}), []
        for name in ("a", "b", "c"):
            self.add(changes.new_class(self.ledger, name, "import"))
        self.draw = Draw(500, 0)

    def add(self, change):
        self.events.append({"rev": len(self.events) + 1, **change})
        self.ledger.take(self.events[-1])
        return len(self.events)

    def label(self, rows, value, via="click", **more):
        body = {"rows": rows, "class": value, "via": via, **more}
        change = changes.label(self.ledger, body, 500, self.draw, lambda row: f"key {row}")
        return self.add(change | {name: more[name] for name in ("who",) if name in more})

    def skip(self, rows, via="random"):
        return self.add(changes.skip(self.ledger, {"rows": rows, "via": via}, 500, self.draw, str))

    def back(self, op, rev=None, who=None):
        return self.add(changes.back(self.ledger, self.events, op, rev, who))

    def state(self):
        values = {row: given.value for row, given in self.ledger.labels.items()}
        return values, [dict(one) for one in self.ledger.classes], dict(self.ledger.settings)


def test_values_are_folded_where_they_are_the_same():
    assert folded([1, 1, 1]) == 1 and folded([1, None]) == [1, None] and folded([]) == []
    assert spread(None, 2) == [None, None] and spread([1, None], 2) == [1, None]


def test_undo_and_redo_in_any_order_of_doing():
    rng = random.Random(0)
    for _ in range(30):
        book, states = Book(), []
        for _ in range(12):
            states.append(book.state())
            kind = rng.choice(["label", "label", "label", "rename", "merge", "hide", "settings"])
            try:
                if kind == "label":
                    book.label(rng.sample(range(20), rng.randint(1, 5)), rng.choice([0, 1, 2, None, "cannot"]))
                elif kind == "settings":
                    book.add(changes.settings(book.ledger, {"goal": rng.random()}))
                else:
                    body = {"op": kind, "class": rng.randrange(3), "into": rng.randrange(3), "name": str(rng.random())}
                    book.add(changes.classes(book.ledger, body))
            except Refused:
                states.pop()
        last = book.state()
        for state in reversed(states):
            book.back("undo")
            assert book.state() == state
        with pytest.raises(Refused, match="nothing to undo"):
            book.back("undo")
        for state in [*states[1:], last]:
            book.back("redo")
            assert book.state() == state
        copy = Ledger(settings={"goal": 0.9, "random_share": 0.25, "abstain": None})
        for event in book.events:
            copy.take(event)
        assert copy == book.ledger


def test_undo_of_an_older_event_leaves_what_is_newer():
    book = Book()
    first = book.label([1, 2, 3], 0)
    book.label([2], 1)
    book.back("undo", first)
    assert book.state()[0] == {2: 1}
    with pytest.raises(Refused):
        book.back("undo", first)


def test_a_new_label_ends_redo():
    book = Book()
    book.label([1], 0)
    book.back("undo")
    book.label([2], 0)
    with pytest.raises(Refused, match="nothing to redo"):
        book.back("redo")


def test_merge_moves_labels_and_its_undo_moves_them_back():
    book = Book()
    book.label([1, 2], 0)
    book.label([3], 1)
    book.add(changes.classes(book.ledger, {"op": "merge", "class": 0, "into": 1}))
    assert book.state()[0] == {1: 1, 2: 1, 3: 1} and book.ledger.classes[0]["merged"] == 1
    with pytest.raises(Refused, match="merged"):
        book.label([4], 0)
    book.back("undo")
    assert book.state()[0] == {1: 0, 2: 0, 3: 1} and book.ledger.classes[0]["merged"] is None


def test_only_rows_that_were_drawn_count_as_random():
    book = Book()
    check, later, other = book.draw.order[0], book.draw.order[1], book.draw.order[-1]
    book.label([other], 0, via="random")
    book.label([check], 0, via="random")
    assert book.ledger.labels[other].via == "click" and set(book.ledger.checks) == {check}
    rows, _, drawn = book.ledger.labeling()
    assert dict(zip(rows, drawn)) == {other: False, check: True}
    book.label([later], "cannot", via="random")
    assert book.ledger.outcomes() == sorted([(check, 0, None), (later, "cannot", None)])
    assert later not in book.ledger.labeling()[0]


def test_a_check_keeps_its_first_answer():
    book = Book()
    check, other = book.draw.order[:2]
    book.label([check], 0, via="random")
    book.label([check], 1, via="review")  # the proposal is accepted, after the guess was seen
    assert book.ledger.outcomes() == [(check, 0, None)] and book.ledger.value(check) == 1
    book.back("undo")
    book.back("undo")
    book.label([check], 2, via="random")
    assert book.ledger.outcomes() == [(check, 0, None)]
    book.add(changes.classes(book.ledger, {"op": "merge", "class": 0, "into": 1}))
    assert book.ledger.outcomes() == [(check, 1, None)]  # of a class that was merged, the one it is now
    assert other in book.draw.offered(book.ledger) and check not in book.draw.offered(book.ledger)


def test_a_skipped_check_waits_and_comes_back():
    book = Book()
    first, second, third, *_ = book.draw.order
    skip = book.skip([first])
    assert book.draw.waiting(book.ledger) == [first]
    assert first not in book.draw.next(book.ledger, 5, skip)
    book.label([second], 0, via="random")
    assert book.draw.waiting(book.ledger) == [first]
    assert book.draw.next(book.ledger, 2, skip + 10) == [first, third]
    book.label([first], 1)  # found on the map: still an answer to the check
    assert book.draw.waiting(book.ledger) == [] and (first, 1, None) in book.ledger.outcomes()


def test_a_check_that_was_passed_over_in_any_way_waits():
    book = Book()
    first, second, third, *_ = book.draw.order
    book.label([second], 0)  # labeled by a look at it, before it was its turn: not among those the checks speak for
    book.label([third], 0, via="random")
    assert book.draw.waiting(book.ledger) == [first] and set(book.ledger.checks) == {third}


def test_the_undo_of_a_skip_brings_the_row_back():
    book = Book()
    check, chosen = book.draw.order[0], book.draw.order[-1]
    book.skip([chosen], "queue")
    rev = book.skip([check])
    assert book.ledger.skipped == {chosen: (rev - 1, False), check: (rev, True)}
    book.back("undo")
    assert check not in book.ledger.skipped and book.draw.next(book.ledger, 1, rev) == [check]
    book.back("redo")
    assert check in book.ledger.skipped
    book.label([chosen], 0)
    assert chosen not in book.ledger.skipped


@pytest.mark.parametrize("via", ["lasso", "list"])
def test_rows_labeled_without_a_look_are_drawn_for_checks_and_count_with_their_label(via):
    book = Book()
    order = book.draw.order
    book.label([order[0]], 1, via="random")
    rows = [row for row in range(500) if row != order[0]]
    lasso = book.label(rows, 0, via=via, unseen=True, around=[order[0]])
    assert book.events[lasso - 1]["around"] == [order[0]] and book.ledger.value(order[0]) == 1
    assert order[1] in book.draw.offered(book.ledger) and book.ledger.unseen(order[200])
    assert set(book.draw.coming(book.ledger, 499)) == set(order[1:])
    assert book.ledger.outcomes() == [(order[0], 1, 0)]  # it would contain 0, and the person said 1
    book.label([order[1]], 0, via="random")
    assert (order[1], 0, 0) in book.ledger.outcomes()
    book.back("undo", lasso)
    assert book.ledger.outcomes() == sorted([(order[0], 1, None), (order[1], 0, None)])
    book.back("redo")
    assert (order[0], 1, 0) in book.ledger.outcomes() and book.ledger.unseen(order[200])
    book.label([order[200]], None)
    assert not book.ledger.unseen(order[200])


def test_rows_that_a_sheet_showed_were_looked_at():
    book = Book()
    rows = book.draw.order[-12:]
    book.label(rows, 0, via="lasso")
    assert not any(book.ledger.unseen(row) for row in rows)
    assert not set(rows) & set(book.draw.coming(book.ledger, 500))


def test_two_people_do_not_overwrite_each_other_silently():
    book = Book()
    at = len(book.events)
    book.label([1], 0, who="A", base_rev=at)
    told = book.label([1], 1, who="B", base_rev=at)  # B has not seen A's label
    assert book.events[told - 1]["op"] == "disagree" and book.ledger.value(1) == 0
    same = book.label([1], 0, who="B", base_rev=at)
    assert book.events[same - 1]["op"] == "label"
    book.label([1], 1, who="B", base_rev=same)  # B has seen it now
    assert book.ledger.value(1) == 1
    book.label([1], 2, who="B", base_rev=at)  # own labels are not news
    assert book.ledger.value(1) == 2


def test_undo_takes_back_what_the_same_person_did():
    book = Book()
    mine = book.label([1], 0, who="A")
    book.label([2], 0, who="B")
    book.back("undo", who="A")
    assert book.state()[0] == {2: 0} and mine in book.ledger.undone
    with pytest.raises(Refused, match="nothing of yours"):
        book.back("undo", who="A")
    book.back("undo")  # no one is named: the newest of all
    assert book.state()[0] == {}


def test_labels_checks_and_skips_follow_their_rows_into_another_table_and_back():
    book = Book()
    book.add({"op": "file", "sha256": "old", "rows": [], "places": []})
    check, skipped = book.draw.order[:2]
    free = sorted(book.draw.order[200:])
    a, b = free[:2]
    book.label([check], 1, via="random")
    book.skip([skipped])
    book.label([a], 0)
    book.label([b, *book.draw.order[100:120]], 0, via="lasso", unseen=True)
    bulk = [row for row in book.ledger.labels if book.ledger.unseen(row)]
    rows, places = [a, check, skipped, *bulk], [None, 8, 9, *range(20, 20 + len(bulk))]
    book.add({"op": "file", "sha256": "new", "rows": rows, "places": places})
    ledger = book.ledger
    assert ledger.value(8) == 1 and ledger.outcomes() == [(8, 1, None)] and ledger.sha256 == "new"
    assert book.draw.waiting(ledger) == [9] and ledger.skipped[9][1]
    assert all(ledger.unseen(row) for row in places[3:]) and not ledger.unseen(8)
    assert [(one["key"], one["value"]) for one in ledger.lost] == [(f"key {a}", 0)]
    found = [{"key": f"key {a}", "row": 10}]
    places = sorted({*ledger.labels, *ledger.skipped})
    book.add({"op": "file", "sha256": "back", "rows": places, "places": places, "found": found})
    assert ledger.value(10) == 0 and ledger.outcomes() == [(8, 1, None)] and not ledger.lost


@pytest.mark.parametrize(
    "body, status",
    [
        ({"rows": [], "class": 0}, 400),
        ({"rows": [500], "class": 0}, 400),
        ({"rows": [True], "class": 0}, 400),
        ({"rows": "1", "class": 0}, 400),
        ({"rows": [1], "class": 9}, 400),
        ({"rows": [1], "class": "a"}, 400),
        ({"rows": [1], "class": 0, "via": "import"}, 400),
    ],
)
def test_what_is_no_label_is_refused(body, status):
    with pytest.raises(Refused) as error:
        changes.label(Book().ledger, body, 500, Draw(500, 0), str)
    assert error.value.status == status


def test_notes_are_kept_undone_and_follow_their_row():
    ledger, events = Ledger(settings={}), []

    def add(change):
        events.append({"rev": len(events) + 1, **change})
        ledger.take(events[-1])

    add(changes.begin("a", ["x", "y"], [], [], []))
    add(changes.note(ledger, {"row": 3, "note": "unclear"}, 9, str))
    add(changes.note(ledger, {"row": 3, "note": "clear"}, 9, str))
    add(changes.back(ledger, events, "undo", None))
    assert ledger.notes == {3: "unclear"} and not ledger.labels
    add({"op": "file", "sha256": "b", "rows": [3], "places": [5], "found": []})
    assert ledger.notes == {5: "unclear"}
    with pytest.raises(Refused, match="too long"):
        changes.note(ledger, {"row": 3, "note": "a" * 3000}, 9, str)
