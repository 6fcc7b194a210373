"""Attack `mercer.load` with damaged and forged files. Nothing may run, no other file be read, no process die."""

import functools
import hashlib
import importlib.util
import io
import os
import random
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.errors import BackendError, InputError
from mercer.inputs.tables import TableClassifier, TableEncoder
from mercer.io.registry import _HOMES

from .bytes import damage
from .forging import forge
from .watch import Watch

SHOWN = False
WATCHED = (
    "open",
    "os.",
    "subprocess.",
    "socket.",
    "shutil.",
    "exec",
    "compile",
    "ctypes.",
    "pickle.",
    "import",
    "code.",
)
QUIET = (
    "os.listdir",
    "os.scandir",
    "os.getxattr",
    "compile",
    "exec",
    "import",
)  # harmless if they come from imports

MEMORY = (
    "/proc/meminfo",
    "/proc/loadavg",
    "/proc/self/statm",
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory.current",
)


def attack(seed, folder):
    """One file, damaged at random or forged with correct checksums."""
    R = random.Random(seed)
    name = R.choice(list(_originals()))
    raw, rows = _originals()[name]
    path = folder / "m.mercer"
    forged = R.random() < 0.6
    if forged:
        content = forge(R, _content(raw))
        path.write_bytes(_packed(R, content))
    else:
        path.write_bytes(_zip_damage(R, raw) if R.random() < 0.3 else damage(R, raw))
    watch = Watch(WATCHED, lambda event, told: event.startswith(QUIET) or (event == "open" and _harmless(told, path)))
    with warnings.catch_warnings(), np.errstate(all="ignore"), watch:
        warnings.simplefilter("ignore")
        try:
            model = mercer.load(path)
        except (InputError, BackendError) as error:
            sentence = str(error)
            assert len(sentence) <= 300 and "\n" not in sentence, f"a sentence of {len(sentence)}: {sentence[:400]}"
            _check(watch)
            return "refused"
        try:
            answer = _use(model, rows)
        except Exception as error:  # a forged model may be useless, but not harmful
            assert forged, f"a damaged file was loaded and then: {type(error).__name__}: {error}"
            answer = None
    _check(watch)
    if not forged:
        np.testing.assert_array_equal(answer, _answers()[name])
    return "useless" if answer is None else "loaded"


def _harmless(told, path):
    """Whether a file that is opened is the model itself, a module, or one that shows what the machine has free."""
    return told in (str(path), *MEMORY) or told.endswith((".py", ".pyc", ".so"))


def _check(watch):
    assert not watch.seen, f"loading did {watch.seen[:3]}"
    assert not os.path.exists("PWNED"), "code was run"


def _use(model, rows):
    for method in ("predict_proba", "transform", "decision_function", "predict"):
        if hasattr(model, method):
            return np.asarray(getattr(model, method)(rows))
    return np.asarray(model(rows[:5])) if callable(model) else np.zeros(1)


@functools.cache
def _originals():
    """{name: (bytes of a saved model, rows to use it on)}."""
    rng = np.random.default_rng(0)
    codes = np.arange(40) % 2
    X = rng.normal(size=(40, 3)) + 2.0 * codes[:, None]
    y = np.where(np.arange(40) < 12, np.array(["a", "b"], dtype=object)[codes], None)
    models = {
        "pca": (mercer.KernelPCA(2, kernel="rbf").fit(X), X),
        "lssvm": (mercer.LSSVMClassifier().fit(X, y), X),
        "svdd": (mercer.SVDD().fit(X), X),
        "density": (mercer.KernelDensityNovelty().fit(X), X),
        "forest": (mercer.KernelPCA(2, kernel="forest", random_state=0).fit(X), X),
        "graph": (mercer.FewLabelClassifier(["diffusion"], time_budget=1).fit(X, y), X),
        "groups": (mercer.KernelCMeans(2, random_state=0).fit(X), X),
        "few": (mercer.FewLabelClassifier(time_budget=1).fit(X, y), X),
        "pipeline": (
            make_pipeline(StandardScaler(), mercer.RLSClassifier(kernel=mercer.RBF(2.0) + mercer.Linear())).fit(X, y),
            X,
        ),
    }
    if importlib.util.find_spec("pandas"):
        models["table"] = _table(X, codes, y)
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for name, (model, rows) in models.items():
            mercer.save(model, Path(folder) / name)
            found[name] = (Path(folder) / name).read_bytes(), rows
            _use(mercer.load(Path(folder) / name), rows)  # imports and compiles all that a load needs
    for home in set(_HOMES.values()) | {f"mercer.{home}" for home in mercer.exports.values()}:
        importlib.import_module(home)
    return found


def _table(X, codes, y):
    pd = importlib.import_module("pandas")
    frame = pd.DataFrame(X, columns=["p", "q", "r"]).assign(s=np.array(["u", "v"])[codes], t=["some words here"] * 40)
    encoder = TableEncoder()
    rows = encoder.fit_transform(frame)
    few = mercer.FewLabelClassifier(["rls"], time_budget=1).fit(rows, y)
    return TableClassifier(encoder, few, "y", {"a": "a", "b": "b"}), frame


@functools.cache
def _answers():
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for name, (raw, rows) in _originals().items():
            (Path(folder) / name).write_bytes(raw)
            found[name] = _use(mercer.load(Path(folder) / name), rows)
    return found


def _content(raw):
    with zipfile.ZipFile(io.BytesIO(raw)) as file:
        return {name: file.read(name) for name in file.namelist()}


def _zip_damage(R, raw):
    """The zip with lost, swapped, doubled or added members. The description and its checksum do not change."""
    with zipfile.ZipFile(io.BytesIO(raw)) as file:
        members, comment = [(name, file.read(name)) for name in file.namelist()], file.comment
    i, j = R.randrange(len(members)), R.randrange(len(members))
    change = R.choice(["lost", "swapped", "doubled", "added", "comment", "order"])
    if change == "lost":
        del members[i]
    elif change == "swapped":
        (a, first), (b, second) = members[i], members[j]
        members[i], members[j] = (a, second), (b, first)
    elif change == "doubled":
        members.append((members[i][0], members[j][1]))
    elif change == "added":
        members.append((R.choice(["../PWNED", "/PWNED", "x.py", "arrays/x.npy", "a" * 60_000]), b"x"))
    elif change == "comment":
        comment = R.choice([b"", b"0" * 64, comment[:-1]])
    else:
        R.shuffle(members)
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w") as file:
        warnings.simplefilter("ignore")  # two members of one name
        file.comment = comment
        for name, data in members:
            file.writestr(name, data)
    return out.getvalue()


def _packed(R, content):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.comment = hashlib.sha256(content["model.json"]).hexdigest().encode()
        for name, data in content.items():
            file.writestr(name, data)
    raw = out.getvalue()
    if R.random() < 0.1:  # the sizes that the directory promises
        place = raw.rfind(b"PK\x01\x02")
        size = R.choice([0, 1, 2**31, 2**32 - 2]).to_bytes(4, "little")
        raw = raw[: place + 24] + size + raw[place + 28 :]
    return raw
