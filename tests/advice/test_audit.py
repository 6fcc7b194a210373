"""The audit of sources of hints."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mercer import FewLabelClassifier, audit
from mercer.errors import InputError


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X, y = X[:500], y[:500] % 3
    rng = np.random.default_rng(0)
    good = np.where(rng.random(500) < 0.85, y, (y + rng.integers(1, 3, 500)) % 3).astype(object)
    good[::10] = None
    poor = np.where(y == 2, 0, y)  # never 2
    given = np.where(rng.permutation(500) < 80, y, -1)
    model = FewLabelClassifier(["mixed"]).fit(X, given, hints={"llm": good, "rules": poor})
    return model, y, given, good, poor


def test_the_accuracies_are_those_of_the_sources(digits):
    model, y, given, good, poor = digits
    found = audit(model)
    assert [one.name for one in found.sources] == ["llm", "rules"] and found.n_drawn == 80
    there = np.array([word is not None for word in good])
    for name, truth in (("llm", np.mean(good[there] == y[there])), ("rules", np.mean(poor == y))):
        one = found[name].accuracy
        assert one.rate.low <= truth <= one.rate.high
        assert one.rate.high - one.rate.low < one.plain.high - one.plain.low and one.effective > 1.3 * one.checks
    assert found["llm"].n_rows == 450 and found["llm"].accuracy.checks == np.sum(there & (given >= 0))


def test_classes_have_their_own_rates(digits):
    model, y, given, _, poor = digits
    zero, one, two = audit(model)["rules"].classes
    assert (zero.name, two.name) == (0, 2) and two.n_rows == 0 and two.found.value == 0 and two.found.high < 0.25
    assert one.found.value == 1 and one.correct.value > 0.98
    assert zero.correct.low <= np.mean(y[poor == 0] == 0) <= zero.correct.high
    assert zero.checks == np.sum((poor == 0) & (given >= 0))


def test_likely_errors_come_first(digits):
    model, y, given, good, _ = digits
    one = audit(model)["llm"]
    assert (given[one.rows] < 0).all() and (np.diff(one.wrong) <= 0).all()
    wrong = good[one.rows] != y[one.rows]
    assert wrong[:30].mean() > 0.8 and wrong[-100:].mean() < 0.1
    assert abs(one.expected_wrong - wrong.sum()) < 0.35 * wrong.sum()
    assert wrong[: one.worth].sum() > 0.7 * wrong.sum()
    assert one.said[0] == str(good[one.rows[0]]) and one.proposed[0] == model.transduction_[one.rows[0]]


def test_only_random_labels_count(digits):
    model = digits[0]
    labels = model.labels_.labeled
    chosen = model.taught(labels, model.classes_[model.labels_.codes[labels]].tolist(), drawn=False)
    found = audit(chosen)
    assert found.n_drawn == 0 and np.isnan(found["llm"].accuracy.rate.value)
    assert "Every labeled row was chosen" in str(found)


def test_what_cannot_be_audited_is_refused(digits):
    model = digits[0]
    plain = FewLabelClassifier(["mixed"]).fit([[0.0], [0.1], [1.0], [1.1]], [0, -1, 1, -1])
    with pytest.raises(InputError, match="without hints"):
        audit(plain)
    with pytest.raises(InputError, match="needs a fitted FewLabelClassifier"):
        audit(3)
    with pytest.raises(InputError, match="There is no source 'gpt'"):
        audit(model)["gpt"]


def test_guesses_that_no_label_names_are_of_unknown_accuracy():
    X, y = load_digits(return_X_y=True)
    X, y = X[:500], y[:500] % 3
    rng = np.random.default_rng(0)
    words = np.array(["zero", "one", "two"], dtype=object)
    given = np.full(500, None, dtype=object)
    some = rng.permutation(500)[:60]
    given[some] = words[y[some]]
    guess = np.where(rng.random(500) < 0.85, y, (y + rng.integers(1, 3, 500)) % 3)
    guess = words[guess]
    rare = np.setdiff1d(np.arange(500), some)[:3]
    unclear = np.concatenate([some[:2], np.setdiff1d(np.arange(500), some)[3:20]])
    guess[rare], guess[unclear] = "seldom", "unclear"
    found = audit(FewLabelClassifier(["mixed"]).fit(X, given, hints={"llm": guess}))
    one = found["llm"]
    seldom, doubtful = (one.wrong[one.said == word] for word in ("seldom", "unclear"))
    assert len(seldom) == 3 and (seldom < 0.4).all()  # as the source in general
    assert (doubtful > 0.5).all() and (doubtful < 0.9).all()  # two checks were wrong
    table = {each.name: each for each in one.classes}
    assert not table["unclear"].labeled and table["unclear"].n_rows == 19 and table["unclear"].checks == 2
    assert table["one"].labeled and "which no label names" in str(found)
