"""Rows in Dask, with the number of passes, what comes to the client, and every form of rows."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

import mercer
from mercer import (
    SVDD,
    FewLabelClassifier,
    KernelCMeans,
    KernelDensityNovelty,
    KernelPCA,
    KPCANovelty,
    LandmarkMap,
    LSSVMClassifier,
    LSSVMRegressor,
    OutlierDetector,
    SemiKPCA,
    suggest,
    suspicious,
)
from mercer.errors import InputError
from mercer.homes import blocks, home_of
from mercer.rows import gram

N = 900


@pytest.fixture(autouse=True)
def small_sample(monkeypatch):
    """A sample that is smaller than the data, as it is for data that are worth a cluster."""
    monkeypatch.setattr(blocks, "SAMPLE", 150)
    monkeypatch.setattr(mercer.homes.dask, "SAMPLE", 150)
    monkeypatch.setattr(mercer.few_label.dask_sample, "SAMPLE", 150)
    monkeypatch.setattr(mercer.geometry.maps.landmark, "POOL", 100)


@pytest.fixture(scope="module")
def data():
    X, t = make_blobs(N, centers=3, n_features=4, cluster_std=1.5, random_state=0)
    y = np.full(N, -1)
    rows = np.random.default_rng(0).choice(N, 24, replace=False)
    y[rows] = t[rows]
    return X, t, y


class Counted:
    """Rows whose blocks count how often they are made."""

    def __init__(self, X, chunk=100):
        self.made, self.lengths = 0, [min(chunk, len(X) - i) for i in range(0, len(X), chunk)]
        parts = [dask.delayed(self.read, pure=False)(X[i : i + chunk]) for i in range(0, len(X), chunk)]
        arrays = [da.from_delayed(part, (k, X.shape[1]), X.dtype) for part, k in zip(parts, self.lengths)]
        self.rows = da.concatenate(arrays)

    def read(self, part):
        self.made += 1
        return part

    @property
    def passes(self):
        passes = self.made / len(self.lengths)
        self.made = 0
        return passes


MODELS = {
    SemiKPCA(approx=20): 2,
    LSSVMClassifier(approx=20, unlabeled="zero"): 2,
    LSSVMClassifier(approx=20): 1,
    LSSVMRegressor(approx=20): 1,
    KernelPCA(2, kernel="rbf", approx=20): 2,
    KPCANovelty(approx=20): 2,
    KernelDensityNovelty(approx=20): 2,
    KernelCMeans(3, approx=20): 1,
    SVDD(approx=20): 1,
    FewLabelClassifier(["lssvm"]): 1,
}


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_fit_reads_the_rows_twice_at_most_and_an_answer_once(model, data, monkeypatch):
    X, _, y = data
    counted, gathered = Counted(X), []
    compute = dask.compute

    def watched(*tasks, **options):
        found = compute(*tasks, **options)
        gathered.extend(np.shape(a)[0] for a in dask.core.flatten(list(found), container=(list, tuple)) if np.ndim(a))
        return found

    monkeypatch.setattr(dask, "compute", watched)
    given = {LSSVMRegressor: np.where(y < 0, np.nan, y), SVDD: None}.get(type(model), y)
    model.fit(counted.rows, given)
    assert counted.passes == MODELS[model]
    assert gathered and max(gathered) < N / 2 and len(model.sample_) < N / 4
    sizes = [np.shape(value)[0] for value in vars(model).values() if isinstance(value, np.ndarray) and value.ndim]
    assert max(sizes, default=0) < N / 2  # nothing that is kept has an entry for each row
    method = "transform" if isinstance(model, KernelPCA) else "predict"
    answer = getattr(model, method)(counted.rows)
    assert counted.passes == 0 and home_of(answer).name == "Dask array" and answer.shape[0] == N
    assert len(answer.compute()) == N
    assert counted.passes == 1


def test_moments_are_added_on_the_workers_and_the_map_is_one_key(data, monkeypatch):
    X, _, y = data
    asked = []
    compute = blocks.Blocks.compute
    monkeypatch.setattr(blocks.Blocks, "compute", lambda self, tasks: asked.append(tasks) or compute(self, tasks))
    SemiKPCA(approx=20).fit(da.from_array(X, chunks=(20, 4)), y)
    sample, moments = asked
    assert len(sample) == 45 and len(moments) == 1
    graph = dict(moments[0].__dask_graph__())
    keys = [key for key in graph if str(key).startswith("mercer-")]
    added = [key for key in graph if str(key).startswith("add-")]
    assert len(keys) == 1 and len(added) == 6 + 1  # 45 sums, eight at a time


@pytest.mark.parametrize("model", [SemiKPCA(approx=20), LSSVMClassifier(10.0, unlabeled="zero", approx=20)])
def test_any_chunks_and_numpy_give_the_same_landmarks_and_answers(model, data, monkeypatch):
    X, _, y = data
    monkeypatch.setattr(mercer.geometry.maps.landmark, "WHOLE", 100)  # as for many rows, whose features are not stored
    here = model.fit(X, y)
    wanted, landmarks = here.decision_function(X), here.map_.landmarks_
    for chunks in ((900, 4), (100, 4), (37, 2), ((1, 0, 899), 4)):
        rows = da.from_array(X, chunks=chunks)
        model.fit(rows, y)
        assert_array_equal(model.map_.landmarks_, landmarks)
        assert_allclose(model.decision_function(rows).compute(), wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())
        assert not hasattr(model, "transduction_")


def frame(X):
    return pd.DataFrame(X, columns=list("abcd"))


FORMS = {
    "lengths not known": lambda X: da.from_array(X, chunks=(200, 4))[da.from_array(np.ones(len(X), bool), chunks=200)],
    "data frame": lambda X: dd.from_pandas(frame(X), npartitions=4),
    "sparse": lambda X: da.from_array(X, chunks=(200, 4)).map_blocks(sp.csr_matrix),
    "empty partitions": lambda X: dd.concat(
        [dd.from_pandas(frame(X), npartitions=3).query("a > 99"), dd.from_pandas(frame(X), npartitions=3)]
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_rows_and_of_labels(form, data):
    X, t, y = data
    rows = FORMS[form](X)
    wanted = SemiKPCA(approx=20).fit(X, y)
    labeled = np.flatnonzero(y >= 0)
    cells = pd.Series([str(c) if c >= 0 else None for c in y])
    for given in (y, da.from_array(y, chunks=77), dict(zip(labeled.tolist(), y[labeled].tolist())), cells):
        model = SemiKPCA(approx=20).fit(rows, given)
        assert_allclose(model.decision_function(rows).compute(), wanted.decision_function(X), atol=1e-12)
        assert_array_equal(model.predict(rows).compute().astype(int), wanted.predict(X))
    assert model.score(rows, da.from_array(t, chunks=100)) == wanted.score(X, t) if cells is not given else True


def test_whole_numbers_and_single_precision(data):
    X, _, y = data
    whole = (10 * X).astype(int)
    model = SemiKPCA(approx=20).fit(da.from_array(whole, chunks=(300, 4)), y)
    assert_allclose(
        model.decision_function(whole), SemiKPCA(approx=20).fit(whole, y).decision_function(whole), atol=1e-12
    )
    single = KernelPCA(2, approx=20, kernel="rbf").fit(da.from_array(X.astype("f4"), chunks=(300, 4)))
    assert single.transform(da.from_array(X.astype("f4"), chunks=(300, 4))).dtype == np.float32


def test_names_of_columns_and_what_is_not_a_number(data):
    X, _, y = data
    rows = dd.from_pandas(frame(X), npartitions=3)
    model = SemiKPCA(approx=20).fit(rows, y)
    assert model.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(rows.rename(columns={"a": "z"}))
    with pytest.raises(InputError, match=r"the column 'e' of the data frame contains .*FewLabelClassifier"):
        SemiKPCA().fit(rows.assign(e="word"), y)
    bad = frame(X).assign(b=np.where(np.arange(N) == 700, np.nan, 0.0))
    with pytest.raises(InputError, match=r"Dask data frame that contains NaN or infinity in column\(s\) 'b'"):
        SemiKPCA(approx=20).fit(dd.from_pandas(bad, npartitions=3), y)
    with pytest.raises(InputError, match="Input X contains NaN"):
        model.predict(dd.from_pandas(bad, npartitions=3)).compute()
    with pytest.raises(InputError, match="X has 900 rows and y has 899"):
        SemiKPCA().fit(rows, y[1:])
    with pytest.raises(InputError, match="The keys of y are not row numbers"):
        SemiKPCA().fit(rows, {"a": 1, 900: 2})


def test_labels_that_could_be_read_two_ways_are_refused_as_on_the_host(data):
    X, _, y = data
    both = np.where(y == 0, 1, -1)
    for given in (both, da.from_array(both, chunks=300)):
        with pytest.raises(InputError, match="y contains only -1 and 1"):
            SemiKPCA(approx=20).fit(da.from_array(X, chunks=(300, 4)), given)


def test_very_many_labels_are_thinned_with_a_word(data, monkeypatch):
    X, t, _ = data
    monkeypatch.setattr(mercer.inputs.sampling, "MOST", 100)
    with pytest.warns(UserWarning, match="900 rows of y are filled.*The fit uses 10"):
        model = LSSVMClassifier(approx=20).fit(da.from_array(X, chunks=(300, 4)), da.from_array(t, chunks=300))
    assert len(model.sample_) < 260 and model.score(X, t) > 0.8


def test_weights_count_rows_as_on_the_host(data):
    X, _, y = data
    weight = np.random.default_rng(0).integers(0, 3, N).astype(float)
    weight[y >= 0] = 1.0
    here = SemiKPCA(approx=20).fit(X, y, sample_weight=weight)
    there = SemiKPCA(approx=20).fit(da.from_array(X, chunks=(250, 4)), y, sample_weight=weight)
    assert_allclose(there.decision_function(X), here.decision_function(X), rtol=0, atol=1e-12)
    pca = [
        KernelPCA(2, kernel="rbf", approx=20).fit(A, sample_weight=weight)
        for A in (X, da.from_array(X, chunks=(250, 4)))
    ]
    assert_allclose(pca[0].eigenvalues_, pca[1].eigenvalues_, rtol=1e-10)


def test_a_map_answers_lazily(data):
    X, _, _ = data
    rows = da.from_array(X, chunks=(300, 4))
    fitted = LandmarkMap("rbf", 20).fit(rows)
    Z = fitted.transform(rows)
    assert home_of(Z).name == "Dask array" and Z.shape == (N, 20)
    assert_allclose(gram(Z), gram(LandmarkMap("rbf", 20).fit_transform(X)), rtol=1e-9)


@pytest.fixture(scope="module")
def table(data):
    X, t, y = data
    words = np.array(["low", "middle", "high"])
    cells = pd.DataFrame({"x": X[:, 0], "kind": words[(t + (np.arange(N) % 7 == 0)) % 3], "z": X[:, 2]})
    return cells, t, y


def test_few_label_classifier_fits_a_sample_and_labels_the_rest_lazily(table):
    cells, t, y = table
    rows = dd.from_pandas(cells, npartitions=4)
    model = FewLabelClassifier(["lssvm", "diffusion"]).fit(rows, da.from_array(y, chunks=300))
    assert set(np.flatnonzero(y >= 0)) <= set(model.sample_) and len(model.sample_) < 180
    here = FewLabelClassifier(["lssvm", "diffusion"])
    here.fit(cells.iloc[model.sample_].reset_index(drop=True), y[model.sample_])
    assert_array_equal(model.weights_, here.weights_)
    P = model.predict_proba(rows)
    assert home_of(P).name == "Dask array"
    for part, block in zip(np.ravel(P.to_delayed()), np.ravel(rows.to_delayed())):
        assert_array_equal(part.compute(), here.predict_proba(block.compute()))  # bitwise, encoder included
    assert np.mean(model.predict(rows).compute() == t) > 0.7
    sentence = model.report_.sentences[1]
    assert f"a sample of {len(model.sample_)} of 900 rows" in sentence and f"{model.stability_:.1%} of 900" in sentence
    assert 0.7 < model.stability_ <= 1
    small = model.compact()
    assert_array_equal(small.predict_proba(cells), model.predict_proba(cells))


def test_advice_names_rows_of_the_data(table, data):
    cells, t, y = table
    model = FewLabelClassifier(["lssvm", "diffusion"]).fit(dd.from_pandas(cells, npartitions=4), y)
    found = suggest(model, 5)
    assert set(found.rows) <= set(model.sample_) and (y[found.rows] < 0).all() and max(found.rows) > len(model.sample_)
    parts = dd.from_pandas(cells, npartitions=4)
    P = np.sort(model.predict_proba(cells), axis=1)
    lead = np.where(y < 0, P[:, -1] - P[:, -2], np.inf)  # of all rows without a label, also those outside the sample
    everywhere = suggest(model, 7, X=parts)
    assert_array_equal(lead[everywhere.rows], np.sort(lead)[:7])
    assert_array_equal(suggest(model, 7, X=cells, exclude=np.flatnonzero(y >= 0)).rows, everywhere.rows)
    with pytest.raises(InputError, match="Omit X"):
        suggest(model, 7, X=parts, audit=0.2)
    doubted = suspicious(model, 5).rows
    assert (y[doubted] >= 0).all()
    before = len(model.labels_.labeled)
    assert len(model.teach(found.rows, t[found.rows]).labels_.labeled) == before + 5
    with pytest.raises(InputError, match="not among those that were fitted"):
        model.teach(np.setdiff1d(np.arange(N), model.sample_)[:1], 0)
    X, rows = data[0], da.from_array(data[0], chunks=(300, 4))
    semi = SemiKPCA(approx=20).fit(rows, y)
    assert (y[suggest(semi, 5, X=rows, y=y).rows] < 0).all()
    there, here = suspicious(semi, 5, X=rows, y=y), suspicious(SemiKPCA(approx=20).fit(X, y), 5, X=X, y=y)
    assert_array_equal(there.rows, here.rows)
    assert (suggest(rows, 5).rows < N).all()


class Eager(blocks.Blocks):
    """Another engine, which runs every task at once."""

    def task(self, function, *arguments):
        return function(*arguments)

    def once(self, value):
        return value

    def compute(self, tasks):
        return list(tasks)


def test_another_engine_is_three_methods(data):
    X, _, y = data
    rows = Eager([X[:100], X[100:450], X[450:]], [100, 350, 450], 4, X.dtype)
    model = SemiKPCA(approx=20).fit(rows, {int(i): int(y[i]) for i in np.flatnonzero(y >= 0)})
    here = SemiKPCA(approx=20).fit(X, y)
    assert_array_equal(model.map_.landmarks_, here.map_.landmarks_)
    assert_allclose(model.decision_function(X), here.decision_function(X), atol=1e-12)
    assert_allclose(
        KPCANovelty(approx=20).fit(rows).eigenvalues_, KPCANovelty(approx=20).fit(X).eigenvalues_, rtol=1e-9
    )


def test_outliers_of_dask_rows_are_scored_block_by_block(data):
    X = np.array(data[0])
    X[[3, 777]] = 9.0
    rows = da.from_array(X, chunks=(300, 4))
    model = OutlierDetector(random_state=0).fit(rows)
    here = OutlierDetector(random_state=0).fit(X[model.sample_])
    found = model.score_samples(rows)
    assert isinstance(found, da.Array)
    assert_allclose(found.compute(), here.score_samples(X), rtol=1e-6)
    assert set(np.argsort(found.compute())[:2]) == {3, 777}
    assert_allclose(model.p_values(rows).compute(), here.p_values(X))


def test_known_outliers_are_in_the_sample_of_svdd(data):
    X, _, _ = data
    y = np.zeros(N)
    y[[3, 777]] = -1
    model = SVDD(approx=20).fit(da.from_array(X, chunks=(300, 4)), da.from_array(y, chunks=300))
    assert {3, 777} <= set(model.sample_) and "fitted to a sample of 15" in model.approx_reason_
