"""Tables without labels, without a console."""

import numpy as np
import pytest

from mercer.events import Progress
from mercer.jobs import unlabeled
from mercer.jobs.options import ReadOptions
from mercer.jobs.outliers import columns, find_outliers
from mercer.jobs.usage import UsageError

OPTIONS = ReadOptions(id="flower", ignore=["species"])


@pytest.fixture
def flowers(path):
    return unlabeled.read(path, OPTIONS, True, ["novelty"])


def test_groups_are_numbered_by_size(flowers):
    events: list = []
    found = unlabeled.cluster(flowers, 3, "rbf", 0, events.append)
    sizes = np.bincount(found.values)[1:]
    assert sizes.sum() == 50 and sizes.tolist() == sorted(sizes, reverse=True)
    assert {type(event) for event in events} == {Progress} and events[0].text.startswith("grouping 50 rows, ")


def test_the_most_unusual_rows_are_flagged(flowers):
    found = find_outliers(flowers.X, fraction=0.1, seed=0)
    new = columns(found)
    assert new["novel"].tolist().count("yes") == 5 == found.flagged.sum()
    assert found.probability[found.flagged].min() >= found.probability[~found.flagged].max()


def test_embedding_has_the_columns_asked_for(flowers):
    found = unlabeled.embed(flowers, "kpca", 3, "rbf", 0)
    assert list(found.columns) == ["component_1", "component_2", "component_3"]
    np.testing.assert_allclose(np.column_stack(list(found.columns.values())), found.values, atol=1e-6)


def test_what_is_refused(path, flowers):
    with pytest.raises(UsageError, match="99 components were requested for 50 rows"):
        unlabeled.embed(flowers, "kpca", 99, "rbf", 0)
    with pytest.raises(UsageError, match="no method 'magic' here"):
        unlabeled.check_share(0.1, "magic", "rbf")
    with pytest.raises(UsageError, match="a column 'flower' already"):
        unlabeled.read(path, OPTIONS, True, ["flower"])
