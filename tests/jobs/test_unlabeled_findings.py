"""The findings of the commands that need no labels."""

import numpy as np
import pytest

from mercer.events import Progress
from mercer.few_label.sizes import Sizes
from mercer.jobs import outliers, unlabeled, unlabeled_findings
from mercer.jobs.options import ReadOptions


@pytest.fixture
def flowers(path):
    return unlabeled.read(path, ReadOptions(id="flower", ignore=["species"]), True, ["novelty"])


def test_groups_have_their_sizes_and_the_rows_nearest_to_their_centers(flowers):
    found, events = unlabeled.cluster(flowers, 3, "rbf", 0), []
    codes = found.values - 1
    page = unlabeled_findings.groups(flowers, codes, found.model, "rbf", 0, events.append, Sizes(points=20))
    assert [group["size"] for group in page.groups] == np.bincount(codes).tolist() and len(page.points.xy) == 20
    nearest = found.model.transform(flowers.X).min(axis=1)
    for k, group in enumerate(page.groups):
        first = min(np.flatnonzero(codes == k), key=lambda row: nearest[row])
        assert group["rows"][0][0] == f"typical: {flowers.names[first]}" and len(group["rows"]) == 3
    assert [number for number, _, _ in page.how_many] == list(range(2, 9))
    assert {type(event) for event in events} == {Progress}
    assert [requested for _, _, requested in page.how_many] == [False, True] + [False] * 5


def test_flagged_rows_have_reasons_and_their_nearest_rows(flowers):
    found = outliers.find_outliers(flowers.X, fraction=0.1, seed=0)
    why = outliers.reasons(flowers, found, found.order[:3])
    page = unlabeled_findings.unusual(flowers, found, why, 0, Sizes(points=10))
    assert page.title == "5 of 50 rows are flagged as outliers" and page.odd_notes == [found.sentence, found.fraction]
    assert [one["row"][0] for one in page.odd] == [flowers.names[row] for row in found.order[:3]]
    assert [one["score"] for one in page.odd] == found.probability[found.order[:3]].tolist()
    assert [len(one["nearest"]) for one in page.odd] == [len(one.nearest) for one in why]
    assert np.sum(page.points.codes == 1) == 5  # flagged rows are always drawn


def test_a_component_has_the_rows_at_its_ends_and_the_columns_that_rise_with_it(flowers):
    petal = flowers.table.frame["petal length"].to_numpy(dtype=float)
    scores = np.column_stack([petal, np.random.default_rng(0).normal(size=50)])
    page = unlabeled_findings.components(flowers, scores, np.array([0.6, 0.3]), 0)
    first = page.groups[0]
    assert first["name"] == "component 1 (60% of the variance)"
    assert first["rows"][0][0] == f"highest: {flowers.names[petal.argmax()]}"
    assert petal[flowers.names.index(first["rows"][1][0].removeprefix("lowest: "))] == petal.min()
    assert "petal length +1.00" in first["distinctive"]
    assert page.tiles[1] == ("90%", "of the variance")
    np.testing.assert_array_equal(page.points.xy, scores)
