"""The names of classes in files are complete, short, and independent of the module of a class."""

import json
import sys
import types
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from PIL import Image
from sklearn.base import is_regressor
from sklearn.linear_model import LogisticRegression
from test_save_load import MODELS, X, Y, answers

import mercer
from mercer.errors import InputError
from mercer.inputs.tables import TableClassifier, TableEncoder, TableRegressor
from mercer.io import registry

OTHER_MODELS = [
    mercer.LSSVMRegressor(),
    mercer.SemiKPCARegressor(),
    mercer.LeastSquaresKPCARegressor(),
    mercer.WithinVarianceClassifier(),
    mercer.ProximalKernelPCA(2),
    mercer.MaxMarginClustering(2),
    mercer.KPCANovelty(kernel=mercer.RBF(1.0) * mercer.Linear()),
    mercer.LSSVMClassifier(kernel=mercer.Forest(20)),
    mercer.FewLabelClassifier("all", random_state=0),
]


def table_model():
    """A model as `mercer label --save` keeps it, of a table with every kind of column."""
    n = np.arange(40)
    words = np.array(["dry", "gray", "cold", "wet", "warm", "bright", "calm"])
    frame = pd.DataFrame(
        {
            "size": n % 2 + np.sin(n),
            "stars": n % 5,
            "place": [[float(i % 3), np.cos(i)] for i in n],
            "town": np.where(n % 3, "Rome", "Oslo"),
            "day": (pd.Timestamp("2024-01-01") + pd.to_timedelta(n, "D")).strftime("%Y-%m-%d"),
            "said": [f"it was {words[i % 7]} and {words[i % 5]} with {words[i % 3]} wind, day {i}" for i in n],
        }
    )
    encoder = TableEncoder().fit(frame)
    model = mercer.FewLabelClassifier(random_state=0).fit(encoder.transform(frame), np.where(n < 8, n % 2, -1))
    return TableClassifier(encoder, model, "kind", {"0": "no", "1": "yes"})


def held(value, found):
    """Every class of this package or scikit-learn of which there is an object within `value`, as it would be saved."""
    if callable(getattr(type(value), "compact", None)) and not isinstance(value, type):
        value = value.compact()
    if isinstance(value, list | tuple | set | frozenset):
        inside = list(value)
    elif isinstance(value, dict):
        inside = [*value, *value.values()]
    elif isinstance(value, np.ndarray) and value.dtype == object:
        inside = value.ravel().tolist()
    elif type(value).__module__.partition(".")[0] in ("mercer", "sklearn"):
        if type(value).__name__ == "KernelDensity" or (type(value) in found and id(value) in found[type(value)]):
            return found
        found.setdefault(type(value), {})[id(value)] = value  # an id is unique only during the life of the object
        inside = (value.__getstate__() or {}).values()
    else:
        return found
    for part in inside:
        held(part, found)
    return found


def pictures_and_texts(folder):
    """An encoder of images, and of texts by a function."""
    for i in range(12):
        Image.fromarray(np.random.default_rng(i).integers(0, 255, (9, 9, 3), dtype=np.uint8)).save(folder / f"{i}.png")
    texts = [f"a text about things, number {i}" for i in range(12)]
    frame = pd.DataFrame({"photo": [str(folder / f"{i}.png") for i in range(12)], "text": texts})
    return TableEncoder(text_model=lambda texts: [[len(text), int(text[-1])] for text in texts]).fit(frame)


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    found: dict = {}
    held(pictures_and_texts(tmp_path_factory.mktemp("pictures")), found)
    for model in [*MODELS, *OTHER_MODELS]:
        held(model.fit(X, X[:, 0] if is_regressor(model) else Y), found)
    kinds = np.arange(60) % 2
    counts = sp.csr_matrix(np.random.default_rng(0).poisson(0.3 + 2.0 * (np.arange(20) % 2 == kinds[:, None])))
    labels = np.where(np.arange(60) < 8, kinds, -1)
    held(mercer.FewLabelClassifier(random_state=0).fit(counts, labels), found)
    held(mercer.TransductiveSVMClassifier(kernel="linear").fit(counts, labels), found)
    held(
        mercer.FewLabelClassifier(["lssvm"]).fit(
            pd.DataFrame({"a": np.sin(np.arange(60)), "b": np.where(kinds, "odd", "even")}), labels
        ),
        found,
    )
    held(table_model(), found)
    towns = pd.DataFrame({"town": np.array(["Rome", "Oslo", "Bonn"])[np.arange(60) % 3], "size": np.cos(np.arange(60))})
    held(mercer.FewLabelClassifier(["boosting"]).fit(towns, labels), found)
    held(TableEncoder().fit(pd.DataFrame({"tail": [f"N{i * i % 211}" for i in range(200)]})), found)
    held(mercer.OutlierDetector().fit(X, np.where(np.arange(len(X)) < 2, -1, 0)), found)
    words = ["".join("abc"[(i * j) % 3] for j in range(1, 7)) for i in range(20)]
    held(mercer.KernelPCA(2, kernel=mercer.Spectrum(2)).fit(words), found)
    held(mercer.FewLabelClassifier(["lssvm"]).fit(words, labels[:20], kernel=mercer.Spectrum(2)), found)
    ring = sp.eye(len(X), k=1) + sp.eye(len(X), k=-1)
    held(mercer.SemiKPCA(kernel=mercer.Diffusion(graph=ring)).fit(X, Y), found)
    held(mercer.FewLabelClassifier(["diffusion"]).fit(X, Y, graph=ring.tocsr()), found)
    coins = np.where(np.arange(len(X)) < 16, np.random.default_rng(1).integers(0, 2, len(X)), -1)  # all have weight
    held(mercer.FewLabelClassifier(["lssvm"]).fit(X, coins, kernel=mercer.RBF(1.0)(X)), found)
    guesses = np.where(np.arange(60) % 7 == 0, 1 - kinds, kinds)
    held(mercer.FewLabelClassifier(["lssvm"]).fit(X[:60], labels, hints=guesses), found)
    own = [LogisticRegression()]
    held(mercer.FewLabelClassifier(["lssvm"], also=own).fit(X, coins), found)
    noise = np.random.default_rng(0).normal(size=len(X))  # does not distinguish candidates, so all of them are kept
    numbers = mercer.FewLabelRegressor(["additive", "forest"], random_state=0).fit(X, noise)
    held(TableRegressor(TableEncoder().fit(pd.DataFrame(X)), numbers, "y"), found)
    return set(found)


@pytest.mark.filterwarnings("ignore")
def test_every_class_that_a_model_holds_has_a_name_and_every_listed_class_is_held(classes):
    nameless = {cls for cls in classes if registry.class_name(cls) is None} - {LogisticRegression}  # a user's own
    assert not nameless, f"add these to mercer/io/registry.py: {nameless}"
    estimators = {getattr(mercer, name) for name, home in mercer.exports.items() if home.startswith("estimators.")}
    assert estimators <= classes
    listed = {name for names in registry.INTERNAL.values() for name in names.split()}
    unheld = listed - {cls.__name__ for cls in classes} - {"DaskSample"}  # of models fitted to rows in Dask
    assert not unheld, f"no model holds these: {unheld}"


def test_names_are_those_of_classes_and_of_nothing_else():
    for name in [*mercer.exports, *registry._HOMES]:
        cls = registry.class_named(name)
        if cls is not None:
            assert registry.class_name(cls) == name
    for name in ("save", "InputError", "use_device", "Packer", "builtins.eval", ""):
        assert registry.class_named(name) is None
    assert not set(mercer.exports) & set(registry._HOMES)


def test_a_file_names_no_module(tmp_path):
    mercer.save(table_model(), tmp_path / "m.mercer")
    with zipfile.ZipFile(tmp_path / "m.mercer") as file:
        about = json.loads(file.read("model.json"))
    assert about["model"]["object"] == "TableClassifier"
    assert "mercer." not in json.dumps(about["model"])


def test_a_file_is_read_after_its_class_moved_to_another_module(tmp_path, monkeypatch):
    model = MODELS[0].fit(X, Y)
    mercer.save(model, tmp_path / "m.mercer")

    class RBF(mercer.RBF):
        pass

    class LandmarkMap(mercer.LandmarkMap):
        pass

    elsewhere = types.ModuleType("mercer.elsewhere")
    for cls in (RBF, LandmarkMap):
        cls.__module__, cls.__qualname__ = elsewhere.__name__, cls.__name__
        setattr(elsewhere, cls.__name__, cls)
        monkeypatch.setitem(mercer.exports, cls.__name__, "elsewhere")
    monkeypatch.setitem(sys.modules, "mercer.elsewhere", elsewhere)
    back = mercer.load(tmp_path / "m.mercer")
    assert type(back.kernel_) is RBF
    np.testing.assert_allclose(answers(back), answers(model), rtol=1e-12)


@pytest.fixture
def empty(monkeypatch):
    monkeypatch.setattr(registry, "_users", {})


def own(name="Shifted", module=__name__):
    return type(name, (mercer.RBF,), {"__module__": module, "__init__": mercer.RBF.__init__})


def test_a_class_of_the_user_is_saved_once_it_is_registered(tmp_path, monkeypatch, empty):
    cls = own()
    model = mercer.LSSVMClassifier(kernel=cls(2.0)).fit(X, Y)
    with pytest.raises(InputError, match=r"kernel is of type .*Shifted, .* mercer\.register"):
        mercer.save(model, tmp_path / "m.mercer")
    assert mercer.register(cls) is cls
    mercer.save(model, tmp_path / "m.mercer")
    back = mercer.load(tmp_path / "m.mercer")
    assert type(back.kernel) is cls
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    monkeypatch.setattr(registry, "_users", {})
    with pytest.raises(InputError, match=r"of type 'user\.Shifted', .* mercer\.register before loading"):
        mercer.load(tmp_path / "m.mercer")


def test_names_of_the_user_do_not_meet_those_of_mercer_nor_each_other(empty):
    rbf = mercer.register(own("RBF"))
    assert registry.class_named("RBF") is mercer.RBF
    assert registry.class_named("user.RBF") is rbf
    assert registry.class_name(rbf) == "user.RBF"
    again = mercer.register(own("RBF"))  # as when the cell of a notebook runs a second time
    assert registry.class_named("user.RBF") is again
    with pytest.raises(InputError, match="registered by the name 'RBF' already. Rename"):
        mercer.register(own("RBF", "elsewhere"))
    mercer.register(mercer.RBF)  # nothing to do
    assert list(registry._users) == ["user.RBF"]
    with pytest.raises(InputError, match="takes a class"):
        mercer.register(mercer.RBF(1.0))
