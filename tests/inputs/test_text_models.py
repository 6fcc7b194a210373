"""Sentence models with tokens, BERT and token tables in NumPy, the choice of a model, caches and refusals."""

import os
import stat

import numpy as np
import pandas as pd
import pytest
from scipy.special import erf

import mercer
from mercer.errors import InputError
from mercer.events import Progress, reporting_to
from mercer.inputs.models import texts as finding
from mercer.inputs.models.bert import Bert, gelu
from mercer.inputs.models.stored import FOLDER
from mercer.inputs.models.texts import text_model
from mercer.inputs.models.weights import tensors
from mercer.inputs.models.wordpiece import WordPiece
from mercer.inputs.tables import TableClassifier, TableEncoder
from mercer.inputs.tables.vectors import ModelLimits
from tiny_models import VOCABULARY, write_bert, write_table, write_tensors

SAID = ["The film was good", "a poor story!", "not very fine", "the story is bad and poor", "refunded money", "fine"]
COLUMN = [f"{SAID[i % 6]} {SAID[(i * i + 1) % 6]} {'abcdefghij'[i % 10]}" for i in range(40)]


@pytest.fixture
def bert(tmp_path):
    arrays = write_bert(tmp_path / "tiny-bert")
    return tmp_path / "tiny-bert", arrays


def naive(arrays, ids, layers=2, heads=2):
    """The hidden states of one text, token by token in double precision."""
    arrays = {name: np.asarray(array, dtype=np.float64) for name, array in arrays.items()}

    def normal(x, stem):
        x = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-12)
        return x * arrays[f"{stem}.weight"] + arrays[f"{stem}.bias"]

    def dense(x, stem):
        return x @ arrays[f"{stem}.weight"].T + arrays[f"{stem}.bias"]

    x = arrays["embeddings.word_embeddings.weight"][ids] + arrays["embeddings.position_embeddings.weight"][: len(ids)]
    x = normal(x + arrays["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in range(layers):
        stem, mixed = f"encoder.layer.{layer}.", np.zeros_like(x)
        q, k, v = (dense(x, f"{stem}attention.self.{name}") for name in ("query", "key", "value"))
        size = x.shape[1] // heads
        for h in range(heads):
            part = slice(h * size, (h + 1) * size)
            for i in range(len(ids)):
                weight = np.exp(k[:, part] @ q[i, part] / np.sqrt(size))
                mixed[i, part] = weight @ v[:, part] / weight.sum()
        x = normal(x + dense(mixed, f"{stem}attention.output.dense"), f"{stem}attention.output.LayerNorm")
        wide = dense(x, f"{stem}intermediate.dense")
        x = normal(x + dense(wide * (1 + erf(wide / np.sqrt(2))) / 2, f"{stem}output.dense"), f"{stem}output.LayerNorm")
    return x


def test_words_are_cut_into_the_longest_known_pieces():
    words = WordPiece(VOCABULARY)
    names = {number: name for name, number in VOCABULARY.items()}

    def cut(text):
        return [names[token] for token in words.tokens(text)]

    assert cut("Refunded, MONEY!") == ["re", "##fund", "##ed", "[UNK]", "mon", "##ey", "!"]
    assert cut("isn't\tthe\u00a0film\0") == ["[UNK]", "'", "t", "the", "film"]
    assert cut("fïne 中中 " + "a" * 101) == ["fine", "中", "中", "[UNK]"]
    assert cut("") == [] and cut("axyz") == ["a", "##x", "##y", "##z"]
    assert [names[t] for t in WordPiece(VOCABULARY, lower=False).tokens("The film")] == ["[UNK]", "film"]


def test_words_that_are_spelled_in_letters_of_another_script_mean_nothing():
    letters = [mark + letter for letter in "плохйфиьм" for mark in ("", "##")]  # as the vocabulary of BERT has them
    words = WordPiece({token: number for number, token in enumerate([*VOCABULARY, *letters])})
    assert words.tokens("фильм") and words.unknown not in words.tokens("плохой фильм")
    assert words.foreign_in(["плохой фильм"]) == 1 and words.foreign_in(["中 中"]) == 1
    assert words.foreign_in(["a fine film", "axyz"]) == 0 and words.foreign_in([]) == 0
    assert words.foreign_in(["good фи unheardof"]) == 3 / 4  # one of the four is a word that is known


def test_a_bert_model_is_what_the_formulas_say(bert):
    folder, arrays = bert
    model = Bert(folder)
    texts = [*SAID, ""]
    found = model.encode(texts)
    for text, vector in zip(texts, found):
        ids = [VOCABULARY["[CLS]"], *model.words.tokens(text), VOCABULARY["[SEP]"]]
        np.testing.assert_allclose(vector, naive(arrays, ids).mean(axis=0), atol=2e-6)
    x = np.linspace(-9, 9, 2001, dtype=np.float32)
    exact = x * (1 + erf(x.astype(np.float64) / np.sqrt(2))) / 2
    gelu(x)
    np.testing.assert_allclose(x, exact, atol=1e-6)


def test_a_long_text_is_read_in_two_pieces(bert):
    folder, arrays = bert
    model, text = Bert(folder), "good bad " * 30
    pieces = [model.words.tokens(text)[begin : begin + model.longest] for begin in (0, model.longest)]
    ids = [[VOCABULARY["[CLS]"], *piece, VOCABULARY["[SEP]"]] for piece in pieces]
    both = np.mean([naive(arrays, one).mean(axis=0) for one in ids], axis=0)
    np.testing.assert_allclose(model.encode([text])[0], both, atol=2e-6)


def test_a_token_table_gives_the_mean_over_known_tokens(tmp_path):
    table = write_table(tmp_path / "tiny2vec")
    model = text_model(str(tmp_path / "tiny2vec"))
    made = model.encode(["good film unheardof", ""])
    np.testing.assert_allclose(made[0], table[[VOCABULARY["good"], VOCABULARY["film"]]].mean(axis=0), rtol=1e-6)
    assert not made[1].any()
    assert model.unknown(["good film unheardof"]) == pytest.approx(1 / 3)


def test_the_model_is_next_to_tf_idf_with_the_same_say(bert):
    folder, _ = bert
    frame = pd.DataFrame({"said": COLUMN, "size": np.sin(np.arange(40))})
    plain = TableEncoder(text_model="none").fit_transform(frame)
    encoder = TableEncoder(text_model=folder)
    X = encoder.fit_transform(frame)
    assert X.shape[1] == plain.shape[1] + 8
    column = encoder.columns_[0]
    assert column.say == pytest.approx(0.5) and column.use.endswith("vectors of tiny-bert")
    assert any("'said' (tiny-bert) is read as text, by TF-IDF and the vectors of" in note for note in encoder.notes_)
    np.testing.assert_allclose(encoder.transform(frame.iloc[5:9]), X[5:9], atol=1e-6)


def test_auto_takes_the_installed_model_unless_it_does_not_know_the_script(bert, monkeypatch):
    folder, _ = bert
    monkeypatch.setattr(finding, "_place", lambda name: None)
    frame = pd.DataFrame({"said": COLUMN})
    plain = TableEncoder().fit_transform(frame)
    np.testing.assert_array_equal(plain, TableEncoder(text_model="none").fit_transform(frame))
    monkeypatch.setattr(finding, "_place", lambda name: folder if name == "all-MiniLM-L6-v2" else None)
    finding._carried.cache_clear()
    encoder = TableEncoder().fit(frame)
    assert encoder.encoders_[0].parts[1].model == "all-MiniLM-L6-v2"
    strange = pd.DataFrame({"said": [f"плохой фильм номер {i} хороший конец" for i in range(40)]})
    encoder = TableEncoder().fit(strange)
    assert not hasattr(encoder.encoders_[0], "parts")
    assert any("100% of the tokens mean nothing to all-MiniLM-L6-v2" in note for note in encoder.notes_)
    assert len(TableEncoder(text_model=folder).fit(strange).encoders_[0].parts) == 2  # as the user asks
    monkeypatch.setattr("mercer.inputs.tables.vectors.LIMITS", ModelLimits(slow=20))
    encoder = TableEncoder().fit(frame)
    assert not hasattr(encoder.encoders_[0], "parts")
    assert any("'said' (30) has too many different texts for the sentence model" in note for note in encoder.models_)
    finding._carried.cache_clear()


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (3, "Invalid text_model=3; expected 'auto', 'none'"),
        ("all-minilm-l6-v2", r"all-MiniLM-L6-v2 is not installed. pip install '.\[text\]'"),
        ("wordllama", "wordllama is not installed"),
        ("table.csv", "a file must be an ONNX model"),
        ("empty", "needs the package sentence-transformers"),
        ("broken", "is not a readable safetensors file"),
        ("other", "does not contain a BERT model with a WordPiece vocabulary"),
    ],
)
def test_a_model_that_cannot_be_used_is_refused(wanted, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(finding, "find_spec", lambda name: None)
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    (tmp_path / "table.csv").write_text("a\n1\n")
    (tmp_path / "empty").mkdir()
    write_table(tmp_path / "broken")
    (tmp_path / "broken" / "model.safetensors").write_bytes(b"\xff" * 20)
    write_bert(tmp_path / "other")
    (tmp_path / "other" / "vocab.txt").unlink()
    with pytest.raises(InputError, match=message):
        text_model(wanted)


def test_tensors_of_several_types_are_read(tmp_path):
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(3, np.float16), "c": np.array([7, 8])}
    write_tensors(tmp_path / "t.safetensors", arrays)
    found = tensors(tmp_path / "t.safetensors")
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)


class Counting:
    """Counts the texts that a model is requested."""

    def __init__(self, monkeypatch):
        self.texts, encode = 0, Bert.encode

        def counted(model, texts, on_part=None):
            self.texts += len(texts)
            return encode(model, texts, on_part)

        monkeypatch.setattr(Bert, "encode", counted)


def test_vectors_are_kept_next_to_the_table_by_content(bert, tmp_path, monkeypatch):
    folder, _ = bert
    asked, data = Counting(monkeypatch), tmp_path / "data"
    data.mkdir()
    frame = pd.DataFrame({"said": [*COLUMN, COLUMN[0]]})
    fresh = TableEncoder(text_model=folder).fit_transform(frame)
    assert asked.texts == len(set(COLUMN)) and not list(data.iterdir())
    frame.attrs["cache"] = str(data)
    np.testing.assert_array_equal(TableEncoder(text_model=folder).fit_transform(frame), fresh)
    first = asked.texts
    np.testing.assert_array_equal(TableEncoder(text_model=folder).fit_transform(frame), fresh)
    assert asked.texts == first  # nothing is computed again
    changed = frame.assign(said=["a new text", *frame["said"][1:]])
    changed.attrs = frame.attrs
    TableEncoder(text_model=folder).fit(changed)
    assert asked.texts == first + 1
    for file in (data / FOLDER).iterdir():
        file.write_bytes(file.read_bytes()[:100])  # cut off
    np.testing.assert_array_equal(TableEncoder(text_model=folder).fit_transform(frame), fresh)
    assert asked.texts == first + 1 + len(set(COLUMN))
    write_bert(folder, seed=1)  # another model does not take the vectors of this one
    assert np.abs(TableEncoder(text_model=folder).fit_transform(frame) - fresh).max() > 0.01


def test_a_folder_that_cannot_be_written_is_left_alone(bert, tmp_path, monkeypatch):
    if os.geteuid() == 0:
        monkeypatch.setattr("pathlib.Path.mkdir", refused)
    folder, _ = bert
    data = tmp_path / "data"
    os.makedirs(data)
    data.chmod(stat.S_IREAD | stat.S_IEXEC)
    frame = pd.DataFrame({"said": COLUMN})
    frame.attrs["cache"] = str(data)
    assert TableEncoder(text_model=folder).fit_transform(frame).any()
    assert not list(data.iterdir())


def refused(*args, **options):
    raise PermissionError(13, "Permission denied")


def test_progress_is_reported(bert):
    folder, _ = bert
    events = []
    with reporting_to(events.append):
        TableEncoder(text_model=folder).fit(pd.DataFrame({"said": COLUMN}))
    assert all(isinstance(event, Progress) for event in events)
    assert events[-1].text == "reading 40 texts with tiny-bert" and events[-1].fraction == 1.0


def test_a_saved_model_knows_which_text_model_it_needs(bert, tmp_path):
    folder, _ = bert
    frame = pd.DataFrame({"said": COLUMN})
    kind = np.where(np.arange(40) % 2, "odd", "even")
    encoder = TableEncoder(text_model=str(folder)).fit(frame)
    model = mercer.LSSVMClassifier().fit(encoder.transform(frame), kind)
    mercer.save(TableClassifier(encoder, model, "kind", {}), tmp_path / "m.mercer")
    saved = mercer.load(tmp_path / "m.mercer")
    expected = model.predict(encoder.transform(frame))
    np.testing.assert_array_equal(saved.predict(frame), expected)
    moved = folder.with_name("moved")
    folder.rename(moved)
    with pytest.raises(InputError, match=r"with which this model was trained, cannot be used here"):
        saved.predict(frame)
    saved.encoder.relocate(text_model=str(moved))
    np.testing.assert_array_equal(saved.predict(frame), expected)
    write_bert(moved, seed=3)
    with pytest.raises(InputError, match=r"is not the same here: its fingerprint is [0-9a-f]{16}, not [0-9a-f]{16}\."):
        saved.predict(frame)


def test_the_classifier_and_the_encoder_take_the_same_model(bert):
    folder, _ = bert
    frame = pd.DataFrame({"said": COLUMN})
    y = [["good", "bad"][i % 2] if i < 16 else None for i in range(40)]
    ours = mercer.FewLabelClassifier(["lssvm"], text_model=folder).fit(frame, y)
    X = TableEncoder(text_model=folder).fit_transform(frame)
    np.testing.assert_allclose(ours.probabilities_, mercer.FewLabelClassifier(["lssvm"]).fit(X, y).probabilities_)
    without = mercer.FewLabelClassifier(["lssvm"], text_model="none").fit(frame, y)
    assert np.abs(without.probabilities_ - ours.probabilities_).max() > 1e-3
    numbers = [float(i % 2) if i < 16 else None for i in range(40)]
    assert mercer.FewLabelRegressor(["lssvm"], text_model=folder).fit(frame, numbers).encoder_.encoders_[0].parts


def test_an_onnx_file_is_run(tmp_path):
    onnx, _ = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    helper, types = onnx.helper, onnx.TensorProto
    table = write_table(tmp_path / "model")
    embeddings = onnx.numpy_helper.from_array(table, "table")
    inputs = [helper.make_tensor_value_info(n, types.INT64, ["n", "l"]) for n in ("input_ids", "attention_mask")]
    output = helper.make_tensor_value_info("last_hidden_state", types.FLOAT, ["n", "l", table.shape[1]])
    node = helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])
    graph = helper.make_graph([node], "g", inputs, [output], [embeddings])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, tmp_path / "model" / "encoder.onnx")
    found = text_model(str(tmp_path / "model" / "encoder.onnx")).encode(["good film", "bad"])
    ids = [VOCABULARY[word] for word in ("[CLS]", "good", "film", "[SEP]")]
    np.testing.assert_allclose(found[0], table[ids].mean(axis=0), rtol=1e-5)
    words = ["good"] * 254 + ["bad"] * 100 + ["film"] * 400  # two pieces of 254 are read
    long = text_model(str(tmp_path / "model" / "encoder.onnx")).encode([" ".join(words)])[0]
    ends = ["[CLS]", "[SEP]"] * 2
    ids = [VOCABULARY[word] for word in [*words[: 2 * 254], *ends]]
    np.testing.assert_allclose(long, table[ids].mean(axis=0), rtol=1e-4)
    (tmp_path / "model" / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"no WordPiece vocabulary for .*encoder\.onnx"):
        os.utime(tmp_path / "model" / "encoder.onnx", (1, 1))  # as if it were another file
        text_model(str(tmp_path / "model" / "encoder.onnx"))


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "wordllama"])
def test_the_carried_models_understand_sentences(name):
    if finding._place(name) is None:
        pytest.skip(f"no package that carries {name} is installed")
    texts = ["I want my money back", "Please refund my payment", "The weather is nice today"]
    rows = text_model(name).encode(texts)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    similar = rows @ rows.T
    assert similar[0, 1] > 0.45 > 0.25 > max(similar[0, 2], similar[1, 2])
