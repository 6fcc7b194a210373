"""Labels, classes and settings as the sum of events; undo as one more event."""

import random

import pytest

from mercer.studio import changes
from mercer.studio.changes import Refused
from mercer.studio.ledger import Ledger, folded, spread


class Book:
    """A ledger with its events."""

    def __init__(self):
        self.ledger, self.events = Ledger(settings={"goal": 0.9, "random_share": 0.25, "abstain": None}), []
        for name in ("a", "b", "c"):
            self.add(changes.new_class(self.ledger, name, "import"))

    def add(self, change):
        self.events.append({"rev": len(self.events) + 1, **change})
        self.ledger.take(self.events[-1])
        return len(self.events)

    def label(self, rows, value, via="click"):
        body = {"rows": rows, "class": value, "via": via}
        return self.add(changes.label(self.ledger, body, 50, set(range(40, 50)), lambda row: f"key {row}"))

    def back(self, op, rev=None):
        return self.add(changes.back(self.ledger, self.events, op, rev))

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


def test_only_rows_that_were_offered_count_as_random():
    book = Book()
    book.label([5], 0, via="random")
    book.label([45], 0, via="random")
    assert book.ledger.labels[5].via == "click" and book.ledger.drawn == {45}
    book.label([45], 1, via="review")  # a corrected check is a check
    rows, ids, drawn = book.ledger.labelling()
    assert (rows, ids, drawn) == ([5, 45], [0, 1], [False, True])
    book.label([46], "cannot", via="random")
    assert book.ledger.cannot_tell() == 1 and 46 not in book.ledger.labelling()[0]


def test_labels_follow_their_rows_into_another_table_and_back():
    book = Book()
    book.add({"op": "file", "sha256": "old", "rows": [], "places": []})
    book.label([1, 2], 0)
    book.label([43], 1, via="random")
    book.add({"op": "file", "sha256": "new", "rows": [1, 2, 43], "places": [7, None, 8]})
    assert book.state()[0] == {7: 0, 8: 1} and book.ledger.drawn == {8} and book.ledger.sha256 == "new"
    assert [(one["key"], one["value"]) for one in book.ledger.lost] == [("key 2", 0)]
    found = [{"key": "key 2", "row": 9}]
    book.add({"op": "file", "sha256": "back", "rows": [7, 8], "places": [7, 8], "found": found})
    assert book.state()[0] == {7: 0, 8: 1, 9: 0} and not book.ledger.lost


@pytest.mark.parametrize(
    "body, status",
    [
        ({"rows": [], "class": 0}, 400),
        ({"rows": [50], "class": 0}, 400),
        ({"rows": [True], "class": 0}, 400),
        ({"rows": "1", "class": 0}, 400),
        ({"rows": [1], "class": 9}, 400),
        ({"rows": [1], "class": "a"}, 400),
        ({"rows": [1], "class": 0, "via": "import"}, 400),
    ],
)
def test_what_is_no_label_is_refused(body, status):
    with pytest.raises(Refused) as error:
        changes.label(Book().ledger, body, 50, set(), str)
    assert error.value.status == status
