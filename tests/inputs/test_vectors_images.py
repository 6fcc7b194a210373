"""Embeddings and images, each one block with one weight."""

import sys
import types

import numpy as np
import pandas as pd
import polars
import pytest
from PIL import Image
from sklearn.datasets import load_digits

import mercer
from mercer.errors import InputError
from mercer.inputs.tables import TableClassifier, TableEncoder, read_table, write_table
from mercer.inputs.tables.vectors import attach_vectors

N = 60
RNG = np.random.default_rng(0)
KIND = np.arange(N) % 2
VECTORS = RNG.normal(size=(N, 24)) + 3.0 * KIND[:, None] * (np.arange(24) % 2)
VECTORS *= RNG.uniform(1, 50, size=(N, 1))  # the length has no information, only the direction
SIZE = RNG.normal(size=N)


def directions(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def says(encoder):
    return {column.name: round(column.say, 9) for column in encoder.columns_}


@pytest.mark.parametrize("kind", ["lists", "arrays", "text", "parquet", "polars"])
def test_a_list_column_is_one_embedding_with_one_say_and_cosine_geometry(tmp_path, kind):
    cells = {"lists": VECTORS.tolist(), "text": [str(row.tolist()) for row in VECTORS]}.get(kind, list(VECTORS))
    frame = pd.DataFrame({"size": SIZE, "vector": cells})
    if kind == "parquet":
        frame.to_parquet(tmp_path / "t.parquet")
        frame = read_table(tmp_path / "t.parquet").frame
    if kind == "polars":
        frame = polars.DataFrame({"size": SIZE, "vector": VECTORS.tolist()})
    encoder = TableEncoder()
    X = encoder.fit_transform(frame)
    assert says(encoder) == {"size": 0.5, "vector": 0.5}
    block = X[:, 1:]
    np.testing.assert_allclose(directions(block), directions(VECTORS), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(block, axis=1), np.linalg.norm(block[0]))


def test_a_file_beside_a_table_and_numbered_columns_say_the_same_as_a_list_column(tmp_path):
    pd.DataFrame({"size": SIZE}).to_csv(tmp_path / "t.csv", index=False)
    np.save(tmp_path / "v.npy", VECTORS)
    table = read_table(tmp_path / "t.csv")
    attach_vectors(table, tmp_path / "v.npy", "embedding")
    one = TableEncoder().fit_transform(table.frame)
    wide = pd.DataFrame({"size": SIZE} | {f"v_{j}": VECTORS[:, j] for j in range(24)})
    encoder = TableEncoder(embed=["v"])
    np.testing.assert_allclose(encoder.fit_transform(wide), one, rtol=1e-12)
    assert says(encoder) == {"size": 0.5, "v_0 … v_23": 0.5}
    write_table(table, {"new": SIZE}, tmp_path / "out.csv")
    assert read_table(tmp_path / "out.csv").frame.columns.tolist() == ["size", "new"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.ones((5, 3)), "has 5 rows and the table 60"),
        (np.ones(N), "not a matrix of finite numbers"),
        (np.full((N, 2), np.nan), "not a matrix of finite numbers"),
        (np.full((N, 2), "a"), "not a matrix of finite numbers"),
    ],
)
def test_vectors_that_do_not_fit_are_refused(tmp_path, rows, words):
    pd.DataFrame({"size": SIZE}).to_csv(tmp_path / "t.csv", index=False)
    np.save(tmp_path / "v.npy", rows)
    with pytest.raises(InputError, match=words):
        attach_vectors(read_table(tmp_path / "t.csv"), tmp_path / "v.npy", "embedding")
    with pytest.raises(InputError, match="'size' cannot be used as embed"):
        TableEncoder(embed=["size"]).fit(read_table(tmp_path / "t.csv").frame)
    with pytest.raises(InputError, match="embed: the table has no column 'vec'"):
        TableEncoder(embed=["vec"]).fit(pd.DataFrame({"vector": SIZE}))


def test_few_labels_from_a_frame_with_a_list_column():
    frame = pd.DataFrame({"vector": VECTORS.tolist()})
    y = np.where(np.arange(N) < 8, KIND, -1)
    model = mercer.FewLabelClassifier(["lssvm"], random_state=0).fit(frame, y)
    encoded = TableEncoder().fit_transform(frame)
    other = mercer.FewLabelClassifier(["lssvm"], random_state=0).fit(encoded, y)
    np.testing.assert_array_equal(model.predict_proba(frame), other.predict_proba(encoded))
    assert (model.transduction_ == KIND).mean() > 0.9


# Models of the user's


TEXTS = [f"the {'cat sat on its mat' if k else 'bank raised the rates'} on day {i}" for i, k in enumerate(KIND)]


def letters(texts):
    return [[text.count(letter) + 1 for letter in "abcdest"] for text in texts]


def test_a_function_makes_vectors_of_texts():
    asked = []

    def counted(texts):
        asked.append(list(texts))
        return letters(texts)

    frame = pd.DataFrame({"size": SIZE, "said": [*TEXTS[:-1], ""]})
    encoder = TableEncoder(text_model=counted)
    X = encoder.fit_transform(frame)
    assert asked == [TEXTS[:-1]]  # once, and not for gaps
    assert says(encoder) == {"size": 0.5, "said": 0.5}
    np.testing.assert_allclose(directions(X[:-1, -7:]), directions(np.array(letters(TEXTS[:-1]))), rtol=1e-6)
    assert X.shape[1] > 8  # TF-IDF is there too
    assert not X[-1, 1:].any()
    words, vectors = np.split(X[:, 1:], [X.shape[1] - 8], axis=1)
    assert np.var(words, axis=0).sum() == pytest.approx(np.var(vectors, axis=0).sum())  # both have the same weight
    np.testing.assert_allclose(encoder.transform(frame.iloc[3:5]), X[3:5], atol=1e-12)
    with pytest.raises(InputError, match="one row of finite numbers for each"):
        TableEncoder(text_model=lambda texts: [[1.0]]).fit(frame)


def test_a_named_text_model_is_used_only_if_it_is_here(monkeypatch, tmp_path):
    frame = pd.DataFrame({"said": TEXTS})
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match="needs the package sentence-transformers, which is not installed"):
        TableEncoder(text_model="absent-package").fit(frame)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)

    class SentenceTransformer:
        def __init__(self, name, local_files_only):
            import os

            assert local_files_only and os.environ["HF_HUB_OFFLINE"] == os.environ["TRANSFORMERS_OFFLINE"] == "1"
            if name != "tiny":
                raise OSError("it is not in the cache.")

        def encode(self, texts):
            return np.array(letters(texts))

    module = types.SimpleNamespace(SentenceTransformer=SentenceTransformer)
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    with pytest.raises(InputError, match=r"'other' is not on this machine \(it is not in the cache\). Nothing is down"):
        TableEncoder(text_model="other").fit(frame)
    encoder = TableEncoder(text_model="tiny").fit(frame)
    model = mercer.LSSVMClassifier().fit(encoder.transform(frame), KIND)
    mercer.save(TableClassifier(encoder, model, "kind", {"0": 0, "1": 1}), tmp_path / "m.mercer")
    np.testing.assert_array_equal(
        mercer.load(tmp_path / "m.mercer").predict(frame), model.predict(encoder.transform(frame))
    )


# Images


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    folder, data = tmp_path_factory.mktemp("digits"), load_digits()
    (folder / "img").mkdir()
    endings = ["png", "jpg", "webp"]
    names = [f"img/{i}.{endings[i % 3] if i < 30 else 'png'}" for i in range(500)]
    for name, pixels in zip(names, data.images):
        big = np.kron(np.round(pixels * 15.9), np.ones((4, 4)))
        Image.fromarray(big.astype(np.uint8)).save(folder / name)
    frame = pd.DataFrame({"photo": names, "digit": [str(d) if i < 50 else "" for i, d in enumerate(data.target[:500])]})
    frame.to_csv(folder / "t.csv", index=False)
    return folder / "t.csv", data.target[:500]


def test_digits_are_told_apart_by_their_images(digits):
    path, truth = digits
    frame = read_table(path).frame
    y = np.where(np.arange(500) < 50, truth, -1)
    X = TableEncoder(ignore=["digit"]).fit_transform(frame)
    model = mercer.FewLabelClassifier(["semi_kpca", "lssvm"], random_state=0).fit(X, y)
    assert (model.transduction_ == truth)[50:].mean() >= 0.85


def test_image_columns_are_found_have_one_say_and_are_read_again(digits, tmp_path):
    path, truth = digits
    frame = read_table(path).frame.assign(size=np.sin(np.arange(500)))
    encoder = TableEncoder(ignore=["digit"])
    X = encoder.fit_transform(frame)
    assert says(encoder) == {"photo": 0.5, "digit": 0.0, "size": 0.5}
    assert encoder.columns_[0].kind == "image"
    model = mercer.LSSVMClassifier().fit(X, truth)
    mercer.save(TableClassifier(encoder, model, "digit", {str(d): str(d) for d in range(10)}), tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    np.testing.assert_allclose(again.encoder.transform(frame.iloc[:9]), X[:9], rtol=1e-12)


def test_colors_tell_images_apart_that_are_alike_in_gray(tmp_path):
    for i in range(20):
        noise = np.random.default_rng(i).integers(0, 20, size=(20, 20, 1))
        pixels = np.array([200, 60, 60] if i % 2 else [60, 60, 200]) + noise
        Image.fromarray(pixels.astype(np.uint8)).save(tmp_path / f"{i}.png")
    frame = pd.DataFrame({"photo": [str(tmp_path / f"{i}.png") for i in range(20)]})
    X = TableEncoder().fit_transform(frame)
    y = np.where(np.arange(20) < 4, np.arange(20) % 2, -1)
    assert (mercer.LSSVMClassifier().fit(X, y).predict(X) == np.arange(20) % 2).all()


def test_the_first_image_that_cannot_be_read_is_named(digits, tmp_path):
    path, _ = digits
    frame = read_table(path).frame[["photo"]].iloc[:60].copy()
    frame.attrs["folder"] = str(path.parent)
    frame.loc[7, "photo"] = "img/none.png"
    encoder = TableEncoder()
    X = encoder.fit_transform(frame)
    assert any("1 of 60 images cannot be read, first 'img/none.png' (there is no file" in n for n in encoder.notes_)
    assert not X[7].any()
    (path.parent / "img" / "broken.png").write_bytes(b"\x89PNG nonsense")
    frame.loc[7, "photo"] = "img/broken.png"
    encoder.fit(frame)
    assert any("broken.png is not a PNG, JPEG or WebP image" in note for note in encoder.notes_)
    frame.attrs["folder"] = str(tmp_path)
    encoder = TableEncoder(ignore=[])
    with pytest.raises(InputError, match=r"names images, but there is no file .*0\.png\. It is left out"):
        encoder.fit(frame)
    with pytest.raises(InputError, match=r"but there is no file .*0\.png\. Paths are relative to the folder"):
        TableEncoder(image=["photo"]).fit(frame)


def test_a_torch_module_makes_vectors_of_images(digits, tmp_path):
    torch = pytest.importorskip("torch")
    path, _ = digits
    frame = read_table(path).frame[["photo"]].iloc[:40]

    class Pool(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.side = 16

        def forward(self, pixels):
            return torch.nn.functional.avg_pool2d(pixels.mean(dim=1, keepdim=True), 4) + 3.0

    encoder = TableEncoder(image_model=Pool())
    X = encoder.fit_transform(frame)
    own = TableEncoder(image_model="none").fit_transform(frame)
    assert X.shape == (40, own.shape[1] + 16)
    X = X[:, -16:]
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), np.linalg.norm(X[0]), rtol=1e-6)
    gray = np.asarray(Image.open(path.parent / frame["photo"][0]).convert("RGB").resize((16, 16)), float) / 255
    scaled = ((gray - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]).mean(axis=2)
    expected = scaled.reshape(4, 4, 4, 4).mean(axis=(1, 3)).ravel() + 3.0
    np.testing.assert_allclose(directions(X)[0], expected / np.linalg.norm(expected), rtol=1e-5)
    torch.jit.script(Pool()).save(tmp_path / "pool.pt")
    again = TableEncoder(image_model=str(tmp_path / "pool.pt")).fit_transform(frame)
    np.testing.assert_allclose(again[:, -16:], X, rtol=1e-5)


def test_a_named_image_model_needs_timm(digits, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setitem(sys.modules, "timm", None)
    with pytest.raises(
        InputError, match=r"'resnet18' needs the package timm, which is not installed\..*: pip install timm"
    ):
        TableEncoder(image_model="resnet18").fit(read_table(digits[0]).frame[["photo"]])
