"""Saving and loading: faithful, small, and harmless whatever the file holds."""

import hashlib
import io
import json
import pickle
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
from mercer.io import FORMAT

X, CLASSES = load_iris(return_X_y=True)
Y = np.array([["setosa", "versicolor", "virginica"][c] for c in CLASSES], dtype=object)
Y[np.arange(150) % 10 > 1] = None

MODELS = [
    mercer.KernelPCA(3, kernel=mercer.RBF("median")),
    mercer.KernelPCA(3, kernel="poly", approx=40),
    mercer.RobustKernelPCA(2),
    mercer.SparseKernelPCA(2),
    mercer.KernelCMeans(3),
    mercer.SVDD(0.1),
    mercer.KPCANovelty(),
    mercer.KernelDensityNovelty(),
    mercer.LSSVMClassifier(),
    mercer.RLSClassifier(approx=mercer.FourierMap(n_features=50)),
    mercer.SemiKPCA(kernel=0.5 * mercer.RBF(1.0) + 0.5 * mercer.Diffusion()),
    mercer.LeastSquaresKPCA(),
    mercer.LogisticKPCA(),
    mercer.MinimumVarianceKPCA(),
    mercer.SpectralGraphTransducer(),
    mercer.S2RLSClassifier(),
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
        with pytest.raises(InputError, match=f"model is compact .* but {what} needs the feature spaces.* Fit again"):
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


# Files that are damaged, or that mean harm


@pytest.fixture
def good(tmp_path):
    mercer.save(mercer.LSSVMClassifier().fit(X, Y), tmp_path / "m.mercer")
    return tmp_path / "m.mercer"


def rewrite(path, change=lambda about: None, members=None):
    """The file with its JSON changed, or members replaced."""
    with zipfile.ZipFile(path) as file:
        content = {name: file.read(name) for name in file.namelist()}
    about = json.loads(content["model.json"])
    change(about)
    content["model.json"] = json.dumps(about).encode()
    content |= members or {}
    with zipfile.ZipFile(path, "w") as file:
        for name, data in content.items():
            if data is not None:
                file.writestr(name, data)
        file.comment = hashlib.sha256(content["model.json"]).hexdigest().encode()


def test_versions_are_recorded_and_newer_ones_refused(good):
    with zipfile.ZipFile(good) as file:
        about = json.loads(file.read("model.json"))
    assert about["mercer"] == mercer.__version__
    rewrite(good, lambda about: about.update(format=FORMAT + 1, mercer="9.9"))
    with pytest.raises(InputError, match=r"written by mercer 9\.9 in format 2.*pip install --upgrade"):
        mercer.load(good)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(good, share):
    data = good.read_bytes()
    good.write_bytes(data[: int(share * len(data))])
    with pytest.raises(InputError, match="incomplete"):
        mercer.load(good)


def test_flipped_bytes_never_give_a_wrong_model(good):
    data = bytearray(good.read_bytes())
    model = mercer.load(good)
    rng = np.random.default_rng(0)
    refused = 0
    for position in rng.choice(len(data), 60, replace=False):
        broken = data.copy()
        broken[position] ^= 0xFF
        good.write_bytes(broken)
        try:
            back = mercer.load(good)
        except InputError:
            refused += 1
        else:  # a byte that means nothing, such as a time stamp
            np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    assert refused > 40


def test_a_changed_description_is_noticed(good):
    with zipfile.ZipFile(good) as file:
        content = {name: file.read(name) for name in file.namelist()}
        comment = file.comment
    changed = content["model.json"].replace(b'"gamma", 1.0', b'"gamma", 9.0')
    assert changed != content["model.json"]
    with zipfile.ZipFile(good, "w") as file:
        file.comment = comment
        for name, data in (content | {"model.json": changed}).items():
            file.writestr(name, data)
    with pytest.raises(InputError, match="description does not match its checksum"):
        mercer.load(good)


def test_changed_arrays_are_noticed(good):
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(3))
    rewrite(good, members={"arrays/0.npy": buffer.getvalue()})
    with pytest.raises(InputError, match="checksum"):
        mercer.load(good)
    rewrite(good, members={"arrays/0.npy": None})
    with pytest.raises(InputError, match="damaged"):
        mercer.load(good)


class Exploit:
    def __reduce__(self):
        return (open, ("PWNED", "w"))


def _poison(array_bytes):
    return lambda about: about["sha256"].__setitem__(0, hashlib.sha256(array_bytes).hexdigest())


def test_a_pickle_inside_is_refused_and_not_run(good, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    buffer = io.BytesIO()
    np.save(buffer, np.array([Exploit()], dtype=object), allow_pickle=True)
    rewrite(good, _poison(buffer.getvalue()), {"arrays/0.npy": buffer.getvalue()})
    with pytest.raises(InputError, match="can run code"):
        mercer.load(good)
    good.write_bytes(pickle.dumps(Exploit()))
    with pytest.raises(InputError, match="not a mercer model"):
        mercer.load(good)
    assert not (tmp_path / "PWNED").exists()


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ({"object": "os:system", "state": []}, "os.system.*refused"),
        ({"object": "subprocess:Popen", "state": [["args", ["true"]]]}, "subprocess.Popen"),
        ({"object": "builtins:eval", "state": []}, "builtins.eval"),
        ({"object": "mercer.io:_Writer", "state": []}, "mercer.io._Writer"),
        ({"object": "mercer.kernels.base:np", "state": []}, "mercer.kernels.base.np"),
        ({"object": "mercer.kernels.graph:sp.csr_matrix", "state": []}, "refused"),
        ({"object": "sklearn.pipeline:FeatureUnion", "state": []}, "FeatureUnion"),
        ({"object": "sklearn.preprocessing._function_transformer:FunctionTransformer", "state": []}, "Function"),
        ({"object": "mercer.kernels.radial:RBF", "state": [["__class__", 1]]}, "sets an attribute"),
        ({"object": "mercer.kernels.radial:RBF", "state": [["a b", 1]]}, "sets an attribute"),
        ({"reduce": "os.system"}, "does not know"),
        ({"rebuild": "os"}, "damaged"),
        ({"array": 99}, "damaged"),
        ({"same": 7}, "damaged"),
        ({"dtype": "no such type"}, "damaged"),
        ({}, "damaged"),
        ({"tuple": 3}, "damaged"),
        ({"sparse": "dense", "parts": [0, 0, 0], "shape": [9, 9], "old": False}, "format 'dense'"),
        ({"sparse": "csr", "parts": [0, 0, 0], "shape": [9, 9], "old": False}, "damaged"),
        ({"object": "mercer.kernels.radial:RBF"}, "damaged"),
    ],
)
def test_entries_that_are_no_models_are_refused(good, node, words):
    rewrite(good, lambda about: about.update(model=node))
    with pytest.raises(InputError, match=words):
        mercer.load(good)


def test_an_array_that_promises_more_than_it_holds_is_refused(good):
    header = np.lib.format.header_data_from_array_1_0(np.zeros(1)) | {"shape": (10**15,)}
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, header)
    buffer.write(b"12345678")
    rewrite(good, _poison(buffer.getvalue()), {"arrays/0.npy": buffer.getvalue()})
    with pytest.raises(InputError, match="not as long as it says"):
        mercer.load(good)


def test_json_that_is_too_deep_or_no_json(good):
    rewrite(good, members={"model.json": b"[" * 100_000})
    with pytest.raises(InputError, match="damaged"):
        mercer.load(good)
    rewrite_bytes = b"{not json"
    with zipfile.ZipFile(good, "w") as file:
        file.writestr("model.json", rewrite_bytes)
    with pytest.raises(InputError, match="damaged"):
        mercer.load(good)


def test_a_bomb_is_refused_before_it_is_unpacked(good, monkeypatch):
    from mercer.errors import BackendError

    monkeypatch.setattr("mercer.backend.memory_available", lambda device=None: 1000)
    with pytest.raises(BackendError, match="Unpacking m.mercer needs"):
        mercer.load(good)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(InputError, match="There is no file"):
        mercer.load(tmp_path / "no.mercer")
    with pytest.raises(InputError, match="cannot be read"):
        mercer.load(tmp_path)


def test_a_place_that_cannot_hold_a_model_is_refused_before_it_is_packed(tmp_path):
    with pytest.raises(InputError, match=r"There is no folder .*nowhere\. Create it first\."):
        mercer.save(mercer.RBF(1.0), tmp_path / "nowhere" / "m.mercer")
    with pytest.raises(InputError, match=r"is a folder\. Give the name of a file\."):
        mercer.save(mercer.RBF(1.0), tmp_path)
    assert list(tmp_path.iterdir()) == []
