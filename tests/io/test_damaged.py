"""Files that are damaged, or that mean harm, are refused and run nothing."""

import hashlib
import io
import json
import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from sklearn.datasets import load_iris

import mercer
from mercer.errors import BackendError, InputError
from mercer.io import FORMAT

X, CLASSES = load_iris(return_X_y=True)
Y = np.where(np.arange(150) % 10 > 1, None, np.array(["setosa", "versicolor", "virginica"], dtype=object)[CLASSES])


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
    with pytest.raises(InputError, match=rf"written by mercer 9\.9 in format {FORMAT + 1}.*pip install --upgrade"):
        mercer.load(good)
    rewrite(good, lambda about: about.update(format=1))
    with pytest.raises(InputError, match=r"m\.mercer was written by a development version .* save the model again\."):
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
        ({"object": "os.system", "state": []}, "os.system.*refused"),
        ({"object": "subprocess:Popen", "state": [["args", ["true"]]]}, "subprocess:Popen"),
        ({"object": "eval", "state": []}, "eval.*refused"),
        ({"object": "save", "state": []}, "type 'save'.*refused"),
        ({"object": "InputError", "state": []}, "type 'InputError'.*refused"),
        ({"object": "Packer", "state": []}, "type 'Packer'.*refused"),
        ({"object": "mercer.kernels.radial:RBF", "state": []}, "mercer.kernels.radial:RBF.*refused"),
        ({"object": "kernels", "state": []}, "type 'kernels'.*refused"),
        ({"object": "__class__", "state": []}, "__class__.*refused"),
        ({"object": ["RBF"], "state": []}, "refused"),
        ({"object": "RBF\n\x1b[2J", "state": []}, r"type 'RBF\\n\\x1b\[2J', which"),
        ({"object": None, "state": []}, "refused"),
        ({"object": "sklearn.FeatureUnion", "state": []}, "FeatureUnion"),
        ({"object": "sklearn.FunctionTransformer", "state": []}, "Function"),
        ({"object": "user.Unheard", "state": []}, "user.Unheard.* mercer.register before loading"),
        ({"object": "RBF", "state": [["__class__", 1]]}, "sets an attribute"),
        ({"object": "RBF", "state": [["a b", 1]]}, "sets an attribute"),
        ({"reduce": "os.system"}, "does not know"),
        ({"tree": "os"}, "damaged"),
        ({"array": 99}, "damaged"),
        ({"same": 7}, "damaged"),
        ({"dtype": "no such type"}, "damaged"),
        ({}, "damaged"),
        ({"tuple": 3}, "damaged"),
        ({"sparse": "dense", "parts": [0, 0, 0], "shape": [9, 9], "old": False}, "format 'dense'"),
        ({"sparse": "csr", "parts": [0, 0, 0], "shape": [9, 9], "old": False}, "damaged"),
        ({"object": "RBF"}, "damaged"),
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
    with pytest.raises(InputError, match="the length of an array does not match"):
        mercer.load(good)


def test_a_number_of_columns_that_is_no_number_is_refused(good):
    def change(about):
        next(pair for pair in about["model"]["state"] if pair[0] == "n_features_in_")[1] = {"tuple": [4]}

    rewrite(good, change)
    with pytest.raises(InputError, match="other than a whole number"):
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
    monkeypatch.setattr("mercer.backend.memory_available", lambda device=None: 1000)
    with pytest.raises(BackendError, match="Unpacking m.mercer needs"):
        mercer.load(good)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(InputError, match="There is no file"):
        mercer.load(tmp_path / "no.mercer")
    with pytest.raises(InputError, match="cannot be read"):
        mercer.load(tmp_path)


def test_no_module_is_imported_because_a_file_names_it(good, tmp_path):
    (tmp_path / "trap.py").write_text("open('PWNED', 'w')\nclass Kernel: pass\n")
    for name in ("trap", "trap.Kernel", "trap:Kernel", "sklearn.trap", "user.trap", "user.trap.Kernel"):
        rewrite(good, lambda about, name=name: about.update(model={"object": name, "state": []}))
        code = "import sys, mercer\nsys.path.insert(0, '.')\ntry:\n mercer.load('m.mercer')\n"
        code += "except mercer.InputError:\n print('refused', 'trap' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
        assert done.stdout == "refused False\n", done.stderr
    assert not (tmp_path / "PWNED").exists()
