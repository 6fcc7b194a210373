"""Saved models load faithfully, and their files are small."""

import re
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from conftest import to_dask, to_torch
from mercer.errors import InputError

X, CLASSES = load_iris(return_X_y=True)
Y = np.array([["setosa", "versicolor", "virginica"][c] for c in CLASSES], dtype=object)
Y[np.arange(150) % 10 > 1] = None

MODELS = [
    mercer.KernelPCA(3, kernel=mercer.RBF("median")),
    mercer.KernelPCA(3, kernel="poly", approx=40),
    mercer.RobustKernelPCA(2),
    mercer.SparseKernelPCA(2),
    mercer.KernelCMeans(3),
    mercer.KernelSpectralClustering(2),
    mercer.SVDD(0.1),
    mercer.KPCANovelty(),
    mercer.KernelDensityNovelty(),
    mercer.LSSVMClassifier(),
    mercer.RLSClassifier(approx=mercer.FourierMap(n_features=50)),
    mercer.SemiKPCA(kernel=0.5 * mercer.RBF(1.0) + 0.5 * mercer.Diffusion()),
    mercer.LeastSquaresKPCA(invariance=mercer.ImageShifts(2, 2)),
    mercer.LogisticKPCA(),
    mercer.MinimumVarianceKPCA(),
    mercer.SpectralGraphTransducer(),
    mercer.S2RLSClassifier(),
    mercer.TransductiveSVMClassifier(),
    make_pipeline(StandardScaler(), mercer.LSSVMClassifier()),
]


def answers(model):
    for name in ("predict_proba", "score_samples", "transform", "predict"):
        if hasattr(model, name):
            return getattr(model, name)(X[::3] + 0.01)
    raise AssertionError


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", MODELS, ids=lambda m: repr(m)[:40])
def test_a_loaded_model_answers_as_the_saved_one(tmp_path, model):
    model.fit(X, Y)
    mercer.save(model, tmp_path / "m.mercer")
    back = mercer.load(tmp_path / "m.mercer")
    # Views become arrays of their own, for which BLAS may take another path: the last bit may differ.
    np.testing.assert_allclose(answers(back), answers(model), rtol=1e-12, atol=1e-14)
    assert repr(back) == repr(model)


@pytest.mark.parametrize("rows", [slice(0, 150, 3), slice(50, 150, 2)], ids=["three classes", "two classes"])
def test_the_few_label_classifier_is_saved_small_without_changing_an_answer(tmp_path, rows):
    told = []
    model = mercer.FewLabelClassifier(random_state=0, verbose=lambda *what: told.append(what))
    model.fit(X[rows], _thinned(Y[rows], rows))
    mercer.save(model, tmp_path / "small.mercer")
    assert (tmp_path / "small.mercer").stat().st_size < 200_000
    back = mercer.load(tmp_path / "small.mercer")
    new = X[1::5] + 0.05
    np.testing.assert_allclose(back.predict_proba(new), model.predict_proba(new), atol=1e-10)
    for name in ("transduction_", "confidence_", "probabilities_", "weights_", "accuracy_interval_", "abstained_"):
        np.testing.assert_array_equal(getattr(back, name), getattr(model, name))
    assert str(back.report_) == str(model.report_)
    assert mercer.suspicious(back, 3).rows.tolist() == mercer.suspicious(model, 3).rows.tolist()
    assert hasattr(model, "candidates_")  # the model itself keeps all
    for what, ask in {
        "teach": lambda: back.teach([0], "setosa"),
        "unteach": lambda: back.unteach([0]),
        "relabel": lambda: back.relabel(Y[rows]),
        "suggest": lambda: mercer.suggest(back, 2),
        "expected_change": lambda: mercer.expected_change(back, 2),
        "doubt": lambda: mercer.doubt(back),
    }.items():
        with pytest.raises(InputError, match=f"model is compact, .* but {what} needs the feature spaces.* Fit again"):
            ask()
    with pytest.raises(ValueError, match="expecting 4"):
        back.predict(X[:, :3])


def test_a_few_label_model_of_sparse_rows_or_a_table_is_saved_too(tmp_path):
    kinds = np.arange(60) % 2
    frame = pd.DataFrame({"size": kinds + 0.1 * np.sin(np.arange(60.0)), "town": np.where(kinds, "Rome", "Oslo")})
    y = np.where(np.arange(60) < 8, kinds, -1)
    counts = sp.csr_matrix(np.random.default_rng(0).poisson(0.3 + 2.0 * (np.arange(20) % 2 == kinds[:, None])))
    for rows, new in ((frame, frame[8:20]), (counts, counts[8:20] * 2)):
        model = mercer.FewLabelClassifier(["lssvm", "diffusion", "mixed", "ls_kpca"]).fit(rows, y)
        mercer.save(model, tmp_path / "m.mercer")
        np.testing.assert_allclose(mercer.load(tmp_path / "m.mercer").predict_proba(new), model.predict_proba(new))
        assert np.mean(model.predict(new) == kinds[8:20]) > 0.9


def _thinned(y, rows):
    full = np.array([["setosa", "versicolor", "virginica"][c] for c in CLASSES], dtype=object)[rows]
    keep = np.zeros(len(full), dtype=bool)
    for name in set(full):
        keep[np.flatnonzero(full == name)[:3]] = True
    return np.where(keep, full, None)


WITHOUT = """
import sys
class Absent:
    def find_spec(name, *rest):
        if name.split(".")[0] in ("torch", "dask", "distributed"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent)  # as if they were not installed
import numpy as np, mercer
rows = np.load("rows.npy")
for number in range(int(sys.argv[1])):
    model = mercer.load(f"{number}.mercer")
    found = model.transform(rows) if hasattr(model, "transform") else model.decision_function(rows)
    np.save(f"{number}.npy", found)
"""


def test_models_trained_on_torch_and_dask_load_where_neither_is_installed(tmp_path):
    models = [
        mercer.KernelCMeans(3, approx=30, random_state=0),
        mercer.KernelPCA(3, approx=30, random_state=0),
        mercer.LSSVMClassifier(approx=30, random_state=0),
        mercer.SVDD(0.1, approx=30, random_state=0),
    ]
    fitted = [clone(model).fit(move(X), Y) for move in (to_torch, to_dask) for model in models]
    np.save(tmp_path / "rows.npy", X + 0.01)
    for number, model in enumerate(fitted):
        mercer.save(model, tmp_path / f"{number}.mercer")
        with zipfile.ZipFile(tmp_path / f"{number}.mercer") as file:
            assert not {b"torch", b"dask"} & set(re.findall(rb"torch|dask", file.read("model.json")))
    command = [sys.executable, "-c", WITHOUT, str(len(fitted))]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for number, model in enumerate(fitted):
        expected = getattr(model, "transform", None) or model.decision_function
        np.testing.assert_allclose(np.load(tmp_path / f"{number}.npy"), expected(X + 0.01), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "value",
    [
        np.nan,
        -np.inf,
        (1, [2.5, None], {"a": {3, 4}}),
        {1: "one", (2, 3): np.float32(4.5)},
        np.array(["ä", None, 3], dtype=object),
        np.arange(6).reshape(2, 3)[:, ::-1],
        np.array(5.0),
        np.dtype("float32"),
        np.int64,
        slice(1, None, 2),
        sp.random(5, 4, 0.5, format="csc", random_state=0),
        sp.csr_array(np.eye(3)),
    ],
    ids=str,
)
def test_every_kind_of_attribute_comes_back(tmp_path, value):
    kernel = mercer.RBF(1.0)
    kernel.extra_ = kernel.again_ = value
    mercer.save(kernel, tmp_path / "m.mercer")
    back = mercer.load(tmp_path / "m.mercer")
    if sp.issparse(value):
        assert type(back.extra_) is type(value)
        assert (back.extra_ != value).nnz == 0
    else:
        np.testing.assert_equal(back.extra_, value)
        assert type(back.extra_) is type(value)
    if isinstance(value, np.ndarray):
        assert back.extra_ is back.again_  # what was one array is one array again


def test_an_object_that_points_to_itself_comes_back(tmp_path):
    kernel = mercer.RBF(1.0)
    kernel.parent_ = [kernel]
    mercer.save(kernel, tmp_path / "m.mercer")
    back = mercer.load(tmp_path / "m.mercer")
    assert back.parent_[0] is back


class Stranger(BaseEstimator):
    pass


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (mercer.Callable(lambda x, y: 1.0), r"Callable\.function is of type builtins\.function"),
        (mercer.LSSVMClassifier(random_state=np.random.RandomState(0)), "random_state is of type numpy.random"),
        (Stranger(), "Stranger, which cannot be saved"),
        (mercer.LSSVMClassifier(kernel=Stranger()), r"LSSVMClassifier\.kernel"),
    ],
)
def test_what_cannot_be_saved_is_named_and_nothing_is_written(tmp_path, model, words):
    with pytest.raises(InputError, match=words):
        mercer.save(model, tmp_path / "m.mercer")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_hold_a_model_is_refused_before_it_is_packed(tmp_path):
    with pytest.raises(InputError, match=r"There is no folder .*nowhere\. Create it first\."):
        mercer.save(mercer.RBF(1.0), tmp_path / "nowhere" / "m.mercer")
    with pytest.raises(InputError, match=r"is a folder\. Give the name of a file\."):
        mercer.save(mercer.RBF(1.0), tmp_path)
    assert list(tmp_path.iterdir()) == []
