"""The comparison on the book's sets, on a set that is made here."""

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.accuracy.book import OURS, PEERS, Book, picked
from benchmarks.scoreboard import accuracy
from benchmarks.speed import closed_form
from mercer import FewLabelClassifier
from mercer.inputs.labels import read_labels


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 6)) + 3.0 * y[:, None]
    splits = np.array([rng.permutation(80)[:10] for _ in range(2)])
    np.savez(tmp_path / "ssl_digit1.npz", X=X, y=y, labeled_10=splits, labeled_100=splits)
    S = sp.csr_matrix(np.abs(X))
    words = {"X_data": S.data, "X_indices": S.indices, "X_indptr": S.indptr, "X_shape": S.shape}
    np.savez(tmp_path / "ssl_text.npz", **words, y=y, labeled_10=splits, labeled_100=splits)
    return tmp_path


@pytest.mark.parametrize("name", ["digit1", "text"])
def test_every_method_answers(folder, name):
    methods = [method for method in OURS if method != "s2rls"]
    errors, (bins, coverage) = Book(folder, name, [*methods, "1-NN"]).run(10, 0)
    assert set(errors) == {*methods, "1-NN"}
    assert all(0.0 <= error <= 0.5 for error in errors.values()), errors
    assert bins[:, 0].sum() == 70 and len(coverage)


def test_the_whole_one_is_a_fit_and_a_single_one_that_picks(folder):
    book = Book(folder, "digit1", ["FewLabelClassifier", "lssvm"])
    rows = book.splits[10][1]
    given = np.full(80, -1)
    given[rows] = book.y[rows]
    free = given < 0
    errors = book.run(10, 1)[0]
    model = FewLabelClassifier().fit(book.X, given)
    assert errors["FewLabelClassifier"] == np.mean(model.transduction_[free] != book.y[free])
    labels = read_labels(given)
    alone = [np.mean(picked([one], labels)[free] != book.y[free]) for one in book.tuned["lssvm"]]
    assert errors["lssvm"] in alone


def test_the_sets_of_the_other_paper_run_through_the_same_models(tmp_path):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(60) % 2, 1, -1)
    np.savez(tmp_path / "heart.npz", X=rng.normal(size=(60, 4)) + y[:, None], y=y)
    rows = accuracy.one_set("heart", tmp_path)
    assert {row["method"] for row in rows} == {*OURS, *PEERS} - {"s2rls"}
    assert max(row["error"] for row in rows if row["fraction"] == 0.1) < 40.0


def test_left_out_answers_of_all_values_are_timed_beside_one_decomposition():
    rank, *seconds = closed_form.leave_one_out(60, 20, 5, 1)
    assert 0 < rank <= 60 and len(seconds) == 3 and min(seconds) > 0
