"""Accept with a promise: how many predictions can be accepted, with what certainty, in one event that can be undone."""

import numpy as np
import pytest

from mercer import FewLabelClassifier, accept
from mercer.studio.drawing import Draw
from mercer.studio.ledger import CANNOT, Ledger
from mercer.studio.promise import promise_of, sentence
from mercer.studio.task import task_of

N, CHECKS = 600, 110


@pytest.fixture(scope="module")
def clouds():
    draw = np.random.default_rng(0)
    truth = draw.integers(2, size=N)
    return draw.normal(size=(N, 2)) + 8 * truth[:, None], truth


def labeled(truth, rows, via="random", wrong=(), cannot=()):
    """A ledger in which these rows were answered as checks."""
    ledger = Ledger(settings={"goal": 0.9, "random_share": 0.25, "abstain": None})
    classes = [{"id": i, "name": f"class {i}", "hidden": False, "merged": None} for i in range(2)]
    ledger.take({"rev": 1, "op": "begin", "sha256": "0", "classes": classes})
    for rev, row in enumerate(map(int, rows), 2):
        value = CANNOT if row in cannot else int(truth[row]) ^ (row in wrong)
        ledger.take({"rev": rev, "op": "label", "rows": [row], "from": None, "to": value, "via": via})
    return ledger


def taught(X, task):
    model = FewLabelClassifier(["lssvm"], missing_label=[], random_state=0).prepare(X)
    return model.taught(task.rows, task.ids, drawn=np.array(task.drawn))


def found(X, ledger):
    draw = Draw(N, 0)
    task = task_of(ledger, draw, 1)
    return promise_of(taught(X, task), task)


def test_with_plain_checks_it_is_what_accept_finds(clouds):
    X, truth = clouds
    ledger = labeled(truth, Draw(N, 0).order[:CHECKS])
    task = task_of(ledger, Draw(N, 0), 1)
    model = taught(X, task)
    one, other = promise_of(model, task), accept(model)
    assert one["rows"] == other.rows.tolist() and len(one["rows"]) == N - CHECKS == one["facts"]["new"]
    assert (one["facts"]["checks"], one["facts"]["wrong"]) == (other.checks, other.wrong)
    assert np.mean(np.array(one["classes"]) == truth[one["rows"]]) > 0.95
    assert set(one["around"]) == set(Draw(N, 0).order[:CHECKS])
    assert "At most 5% of them are wrong, with 95% certainty" in one["facts"]["text"]


def test_too_few_checks_name_the_number_that_is_missing(clouds):
    X, truth = clouds
    one = found(X, labeled(truth, Draw(N, 0).order[:30]))
    assert one["rows"] == [] and 20 < one["facts"]["missing"] < 150
    assert (
        one["facts"]["text"].startswith("No prediction can be accepted yet")
        and "more random checks" in one["facts"]["text"]
    )


@pytest.mark.parametrize("kind", ["wrong", "cannot", "skipped"])
def test_checks_that_are_wrong_unknown_or_skipped_break_the_promise(clouds, kind):
    X, truth = clouds
    order = Draw(N, 0).order[:CHECKS]
    bad = order[5:100:8]
    if kind == "skipped":
        ledger = labeled(truth, [row for row in order if row not in bad])
        assert set(Draw(N, 0).waiting(ledger)) == set(bad)
    else:
        ledger = labeled(truth, order, **{kind: bad})
    one = found(X, ledger)
    assert one["rows"] == [] and not set(one["rows"]) & set(bad)


def test_a_corrected_check_keeps_its_first_answer(clouds):
    X, truth = clouds
    order = Draw(N, 0).order[:CHECKS]
    ledger = labeled(truth, order, wrong=order[:12])
    for rev, row in enumerate(order[:12], 500):
        ledger.take({"rev": rev, "op": "label", "rows": [row], "from": 0, "to": int(truth[row]), "via": "review"})
    assert accept(taught(X, task_of(ledger, Draw(N, 0), 1))).rows.size
    assert found(X, ledger)["rows"] == []


def test_rows_labeled_by_a_lasso_are_not_part_of_it(clouds):
    X, truth = clouds
    order = Draw(N, 0).order
    ledger = labeled(truth, order[:CHECKS])
    rest = [row for row in order[CHECKS:400] if truth[row] == 0]
    event = {"rev": 500, "op": "label", "rows": rest, "from": None, "to": 0, "via": "lasso", "unseen": True}
    ledger.take(event | {"around": order[:20]})
    one = found(X, ledger)
    assert not set(one["rows"]) & set(rest) and one["facts"]["checks"] == CHECKS - 20


def test_sentences():
    facts = {"rows": 0, "free": 10, "wrong_at_most": 0.05, "certainty": 0.95, "checks": 0, "wrong": 0}
    assert "Give more labels" in sentence(facts | {"missing": None, "missing_among": 0})
    assert "About 1 more random check would" in sentence(facts | {"missing": 1, "missing_among": 1200})


def test_accepting_is_one_event_that_can_be_undone(offline):
    client, session = offline()
    for name in ("a", "b"):
        client.do("class", op="add", name=name)
    client.label([1, 2], 0)
    assert client.post("accept", promise=True).status_code == 409
    facts = {"wrong_at_most": 0.05, "certainty": 0.95, "checks": 80, "wrong": 0, "text": "20 can be accepted."}
    rows = list(range(2, 22))
    session.heard("promise", {"rev": 1, "rows": rows, "classes": [1] * 20, "around": {50: 0}, "facts": facts})
    assert client.read("accuracy")["promise"]["checks"] == 80
    session.queue = {"items": [{"row": session.draw.order[0], "via": "random"}]}
    hidden = session.hidden(None)
    done = client.do("accept", promise=True)
    event = session.journal.events[-1]
    taken = [row for row in rows[1:] if row not in hidden]
    assert event["rows"] == taken and done["accepted"] == len(taken) and event["promise"]["wrong_at_most"] == 0.05
    assert event["via"] == "accept" and 50 in event["around"] and session.ledger.value(2) == 0
    assert "at most 5% wrong" in client.read("history")["events"][0]["text"]
    assert client.post("accept", promise=True).status_code == 409  # all are accepted
    client.do("undo")
    assert set(session.ledger.labels) == {1, 2}
