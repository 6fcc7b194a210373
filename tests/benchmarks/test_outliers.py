"""The benchmark of outliers: its peers are PyOD's, its tables have the promised outliers, its page has every part."""

import numpy as np
import pytest

from benchmarks.accuracy import outlier_peers as peers
from benchmarks.accuracy.outlier_page import page
from benchmarks.accuracy.outliers import METHODS, kept, of_table, own


@pytest.mark.parametrize(
    ("ours", "module", "name", "options"),
    [
        (peers.ecod, "ecod", "ECOD", {}),
        (peers.copod, "copod", "COPOD", {}),
        (peers.neighbor(5), "knn", "KNN", {"n_neighbors": 5}),
        (peers.neighbor(1), "knn", "KNN", {"n_neighbors": 1}),
    ],
)
def test_peers_score_as_pyod_does(ours, module, name, options):
    model = getattr(pytest.importorskip(f"pyod.models.{module}"), name)(**options)
    A, B = (np.random.default_rng(seed).gamma(1, size=(n, 4)) for seed, n in ((0, 200), (1, 50)))
    A[:, 3], B[:, 3] = np.round(A[:, 3]), np.round(B[:, 3])  # ties
    model.fit(A)
    np.testing.assert_allclose(ours(A), model.decision_scores_, rtol=1e-9)
    np.testing.assert_allclose(ours(A, B), model.decision_function(B), rtol=1e-9)


def test_a_table_gets_its_outliers_and_a_page(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(160) < 40
    B = rng.normal(size=(160, 3)) + 4 * y[:, None]
    np.savez(tmp_path / "made.npz", A=rng.normal(size=(120, 3)), B=B, y=y.astype(int))
    X, truth = own(rng.normal(size=(120, 3)), B, y, 0.10, 120)
    assert len(X) == 120 and truth.sum() == 12
    rows = of_table(tmp_path / "made.npz", 120)
    best = {(row["setting"], row["name"]): row["auroc"] for row in rows if row["kind"] == "detector"}
    assert best["clean", "OutlierDetector()"] > 0.98 and best["own 10%", "OutlierDetector()"] > 0.95
    text = page([*rows, *({**row, "table": "other"} for row in rows)], list(METHODS), 120, "--rows 120", "a machine")
    assert {(row["kind"], row["name"]) for row in kept(tmp_path / "made.npz", 120, tmp_path / "kept")} == {
        (row["kind"], row["name"]) for row in rows
    }
    (tmp_path / "made.npz").unlink()
    assert kept(tmp_path / "made.npz", 120, tmp_path / "kept")  # not computed again
    for heading in ("## Accuracy", "## How the rule was chosen", "## False alarms", "## Feedback"):
        assert heading in text
    assert all(f"| {name} |" in text for name in METHODS)
