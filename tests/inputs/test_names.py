"""Columns of many values, read by their values and by their strings."""

import numpy as np
import pandas as pd

import mercer
from mercer import FewLabelClassifier, TableEncoder

CARRIERS = ["DL", "UA", "JB", "WN"]


def tails(n=400, seed=0):
    """Tail numbers, most of them rare, whose last two letters are the carrier's."""
    rng = np.random.default_rng(seed)
    carrier = rng.choice(CARRIERS, n)
    number = np.where(rng.random(n) < 0.5, rng.integers(100, 104, n), rng.integers(100, 999, n))
    return pd.DataFrame({"tail": [f"N{i}{c}" for i, c in zip(number, carrier)]}), carrier


def test_strings_of_rare_values_are_read():
    frame, carrier = tails()
    encoder = TableEncoder()
    rows = encoder.fit_transform(frame)
    column = encoder.columns_[0]
    assert (column.kind, column.use.split(" ", 1)[1]) == ("category", "codes, words and characters")
    note = encoder.notes_[0]
    assert "are read also by their words and characters" in note and "Group" not in note
    new = encoder.transform(pd.DataFrame({"tail": [f"N{number}{c}" for number in (555, 777) for c in CARRIERS]}))
    near = np.argsort(np.square(rows[None] - new[:, None]).sum(axis=2), axis=1)[:, :9]
    right = [[carrier[i] == c for i in row] for row, c in zip(near, CARRIERS * 2)]
    assert np.mean(right) > 0.8


def test_rare_values_are_learned_from():
    frame, carrier = tails()
    given = np.where(np.random.default_rng(1).permutation(400) < 60, carrier, None)
    hidden = np.equal(given, None)
    found = FewLabelClassifier(["rls"]).fit(frame, given).transduction_[hidden]
    codes = TableEncoder(category=["tail"]).fit_transform(frame)
    before = FewLabelClassifier(["rls"]).fit(codes, given).transduction_[hidden]
    assert np.mean(found == carrier[hidden]) > 0.8 > np.mean(before == carrier[hidden])


def test_a_column_of_many_values_has_the_weight_of_one_column_and_half_if_most_are_different():
    rng = np.random.default_rng(0)
    frame, _ = tails()
    frame["size"] = rng.normal(size=400)
    often, mostly = (frame.assign(tail=[f"N{i}DL" for i in rng.integers(100, most, 400)]) for most in (200, 500))
    say = [{c.name: c.say for c in TableEncoder().fit(one).columns_}["tail"] for one in (often, mostly)]
    assert abs(say[0] - 0.5) < 0.02
    assert abs(say[1] - 0.2) < 0.02  # a weight of ½ in the distance is ¼ in its square


def test_nearly_different_in_every_row_is_an_identifier():
    frame = pd.DataFrame({"tail": [f"N{i}" for i in range(390)] + ["N1"] * 10, "size": np.arange(400) % 7})
    encoder = TableEncoder().fit(frame)
    assert encoder.ignored_ == {"tail": "390 different values in 400 rows"}
    assert "--text uses it" in encoder.notes_[0] and "Group" not in encoder.notes_[0]
    assert TableEncoder(text=["tail"]).fit(frame).columns_[0].kind == "text"


def test_the_encoder_is_saved_and_loaded(tmp_path):
    frame, _ = tails()
    encoder = TableEncoder().fit(frame)
    mercer.save(encoder, tmp_path / "encoder.mercer")
    again = mercer.load(tmp_path / "encoder.mercer")
    np.testing.assert_array_equal(again.transform(frame), encoder.transform(frame))
    assert again.encoders_[0].weight == encoder.encoders_[0].weight


def test_gaps_and_unknown_strings_are_zeros():
    frame, _ = tails()
    encoder = TableEncoder().fit(frame)
    strange = pd.DataFrame({"tail": ["", "???", "ßßß"]})
    assert not encoder.transform(strange).any()
    assert "3 cells" in encoder.unread(strange)[0]
