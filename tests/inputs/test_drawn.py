"""Labeled rows that are not a random sample, at the top of a sorted file, in groups, or of another kind."""

import numpy as np
import pandas as pd
import pytest

from mercer.inputs.tables.drawn import selected


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "town": rng.choice(["Bonn", "Kiel", "Ulm"], n),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "note": np.where(rng.random(n) < 0.3, "", "x"),
        }
    )


def drawn(n, l, seed):
    return np.random.default_rng(seed).permutation(n) < l


@pytest.mark.parametrize("name", ["size", "town", "when", "note"])
def test_labels_at_the_top_of_a_sorted_file_are_named_with_the_column(name):
    frame = table().sort_values(name).reset_index(drop=True)
    found = selected(frame, np.arange(400) < 50)
    assert (found.kind, found.column) == ("column", name)
    assert found.p < 1e-6 and found.sentence.startswith(f"{name} is ")


def test_dates_as_text_are_compared_too():
    frame = table().sort_values("when").reset_index(drop=True)
    found = selected(frame.assign(when=frame["when"].astype(str)), np.arange(400) < 50)
    assert found.column == "when"


def test_labels_at_the_top_of_a_file_in_random_order_are_named_by_their_places():
    found = selected(table(), np.arange(400) < 50)
    assert (found.kind, found.column) == ("order", "")
    assert found.sentence == "the labeled rows are next to each other in the table, rows 1 to 50"


def test_labels_in_groups_all_over_the_file_are_named():
    given = np.arange(400) % 80 < 10
    assert selected(table(), given).sentence == "labeled rows are next to each other in the table"


def test_every_tenth_row_is_as_good_as_a_draw():
    assert selected(table(), np.arange(400) % 10 == 3) is None


def test_columns_can_be_left_out_and_all_or_no_labels_say_nothing():
    frame = table().sort_values("town").reset_index(drop=True)
    assert selected(frame, np.arange(400) < 50, ["size", "note"]).kind == "order"
    assert selected(frame, np.zeros(400, bool)) is None
    assert selected(frame, np.ones(400, bool)) is None


def test_random_labels_are_named_in_one_draw_of_a_hundred_at_most():
    frames = [table(150, seed) for seed in range(4)]
    found = [selected(frames[seed % 4], drawn(150, (8, 20, 60)[seed % 3], seed)) for seed in range(300)]
    assert sum(one is not None for one in found) <= 8  # more with probability 0.4%, at 0.01 per table


def test_the_number_of_groups_has_the_exact_distribution():
    """For all 70 places of 4 labels in 8 rows, the p-value is the fraction of draws with as few groups."""
    from itertools import combinations

    from mercer.inputs.tables.drawn import _runs_p

    draws = [np.isin(np.arange(8), places) for places in combinations(range(8), 4)]
    runs = [int(given[0]) + int(np.sum(given[1:] & ~given[:-1])) for given in draws]
    for given, own in zip(draws, runs):
        assert _runs_p(given) == pytest.approx(np.mean(np.array(runs) <= own))
