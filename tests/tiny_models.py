"""Small models for tests, which are a BERT sentence model, a table of token vectors and an image network."""

import json

import numpy as np

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
TEXT = "the good fine bad poor film story was is a and of not very re ##fund ##ed mon ##ey . ! ' t 中 ##x ##y ##z"
TOKENS = list(dict.fromkeys([*SPECIAL, *TEXT.split(" "), *"bcdefghij"]))
VOCABULARY = {token: number for number, token in enumerate(TOKENS)}


def write_tensors(path, arrays):
    """A safetensors file."""
    head, data = {}, b""
    for name, array in arrays.items():
        kind = {"float32": "F32", "float16": "F16", "int64": "I64"}[str(array.dtype)]
        head[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += np.ascontiguousarray(array).tobytes()
    text = json.dumps(head).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def write_bert(folder, seed=0, layers=2, width=8, longest=12):
    """Write a sentence model with random weights and return its arrays."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)

    def drawn(*shape):
        return (rng.normal(size=shape) * 0.5).astype(np.float32)

    arrays = {
        f"embeddings.{name}_embeddings.weight": drawn(rows, width)
        for name, rows in (("word", len(VOCABULARY)), ("position", 32), ("token_type", 2))
    }

    def norm(stem):
        arrays.update({f"{stem}.weight": 1 + drawn(width), f"{stem}.bias": drawn(width)})

    norm("embeddings.LayerNorm")
    for layer in range(layers):
        stem = f"encoder.layer.{layer}."
        for name in ("query", "key", "value"):
            arrays |= {f"{stem}attention.self.{name}.{part}": drawn(*s) for part, s in _dense(width, width)}
        for name, low, high in (
            ("attention.output.dense", width, width),
            ("intermediate.dense", width, 3 * width),
            ("output.dense", 3 * width, width),
        ):
            arrays |= {f"{stem}{name}.{part}": drawn(*shape) for part, shape in _dense(low, high)}
        norm(f"{stem}attention.output.LayerNorm")
        norm(f"{stem}output.LayerNorm")
    write_tensors(folder / "model.safetensors", arrays)
    config = {"model_type": "bert", "hidden_size": width, "num_attention_heads": 2, "num_hidden_layers": layers}
    config |= {"max_position_embeddings": 32, "hidden_act": "gelu", "layer_norm_eps": 1e-12}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": longest}))
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY), encoding="utf-8")
    return arrays


def _dense(low, high):
    return (("weight", (high, low)), ("bias", (high,)))


def write_table(folder, seed=0, width=6):
    """Write a model2vec folder with random vectors and return its table."""
    folder.mkdir(parents=True, exist_ok=True)
    table = np.random.default_rng(seed).normal(size=(len(VOCABULARY), width)).astype(np.float32)
    write_tensors(folder / "model.safetensors", {"embeddings": table})
    model = {"type": "WordPiece", "vocab": VOCABULARY, "unk_token": "[UNK]"}
    about = {"model": model, "normalizer": {"type": "BertNormalizer", "lowercase": True}}
    (folder / "tokenizer.json").write_text(json.dumps(about), encoding="utf-8")
    return table
