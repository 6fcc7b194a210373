"""BERT sentence models, such as all-MiniLM-L6-v2, computed with NumPy instead of PyTorch or ONNX Runtime.

The matrix products of a layer take nine tenths of the time, and BLAS is as fast as any other library there.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ...errors import InputError
from .pieces import in_pieces
from .weights import fingerprint, tensors
from .wordpiece import WordPiece


class Bert:
    """A sentence model in a folder, as sentence-transformers writes it.

    Parameters
    ----------
    folder : folder with config.json, model.safetensors and a WordPiece vocabulary.

    Attributes
    ----------
    name : name for messages.
    mark : fingerprint of its weights and vocabulary.
    width : length of a vector.
    """

    slow = True

    def __init__(self, folder: str | Path, name: str | None = None) -> None:
        folder = Path(folder)
        self.name = name or folder.name
        config, pooling = _json(folder / "config.json"), _json(folder / "1_Pooling" / "config.json")
        words = WordPiece.read(folder)
        if not suited(config) or words is None or not words.ends:
            raise InputError(f"{folder} does not contain a BERT model with a WordPiece vocabulary.")
        self.words, self.weights = words, tensors(folder / "model.safetensors")
        vocabulary = folder / ("tokenizer.json" if (folder / "tokenizer.json").exists() else "vocab.txt")
        self.mark = fingerprint([folder / "model.safetensors", vocabulary])
        self.width, self.heads = config["hidden_size"], config["num_attention_heads"]
        self.layers, self.tiny = config["num_hidden_layers"], config.get("layer_norm_eps", 1e-12)
        self.first = pooling.get("pooling_mode_cls_token", False)
        self.longest = _json(folder / "sentence_bert_config.json").get("max_seq_length") or 256
        self.longest = min(self.longest, config["max_position_embeddings"]) - 2
        self.stem = "bert." if "bert.embeddings.word_embeddings.weight" in self.weights else ""

    def encode(self, texts: Sequence[str], on_part: Callable[[int], None] | None = None) -> np.ndarray:
        """(n, width) vectors of the texts, each the mean over its tokens in at most two pieces.

        on_part : function that gets the number of texts that are done.
        """
        return in_pieces([self.words.tokens(text) for text in texts], self.longest, self._forward, self.width, on_part)

    def unknown(self, texts: Sequence[str]) -> float:
        """The fraction of the tokens that are not in the vocabulary, or single letters of another script."""
        return self.words.foreign_in(texts)

    def _forward(self, pieces: list[list[int]]) -> np.ndarray:
        """(n, width) of pieces of at most `longest` tokens each."""
        begin, end = self.words.ends
        length = max(map(len, pieces)) + 2
        ids = np.zeros((len(pieces), length), dtype=np.int64)
        there = np.zeros((len(pieces), length), dtype=np.float32)
        for i, piece in enumerate(pieces):
            ids[i, : len(piece) + 2], there[i, : len(piece) + 2] = [begin, *piece, end], 1.0
        table = "embeddings.{}_embeddings.weight"
        x = self._of(table.format("word"))[ids] + self._of(table.format("position"))[:length]
        x += self._of(table.format("token_type"))[0]
        x = self._normal(x.reshape(-1, self.width).astype(np.float32), "embeddings.LayerNorm")
        hidden = np.where(there > 0, 0.0, -1e9).astype(np.float32)[:, None, None]
        for layer in range(self.layers):
            x = self._layer(x, f"encoder.layer.{layer}.", hidden)
        x = x.reshape(len(pieces), length, self.width)
        if self.first:
            return x[:, 0]
        return np.einsum("nlw,nl->nw", x, there) / there.sum(axis=1)[:, None]

    def _layer(self, x: np.ndarray, stem: str, hidden: np.ndarray) -> np.ndarray:
        n, size = len(hidden), self.width // self.heads

        def apart(part: str) -> np.ndarray:
            wide = self._dense(x, f"{stem}attention.self.{part}")
            return wide.reshape(n, -1, self.heads, size).transpose(0, 2, 1, 3)

        scores = apart("query") @ apart("key").swapaxes(2, 3)
        scores /= np.float32(np.sqrt(size))
        scores += hidden
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed = (scores @ apart("value")).transpose(0, 2, 1, 3).reshape(len(x), self.width)
        x = self._normal(x + self._dense(mixed, f"{stem}attention.output.dense"), f"{stem}attention.output.LayerNorm")
        wide = self._dense(x, f"{stem}intermediate.dense")
        step = 64  # rows that stay in the cache while the activation is applied
        for begin in range(0, len(wide), step):
            gelu(wide[begin : begin + step])
        return self._normal(x + self._dense(wide, f"{stem}output.dense"), f"{stem}output.LayerNorm")

    def _dense(self, x: np.ndarray, name: str) -> np.ndarray:
        made = x @ self._of(f"{name}.weight").T
        made += self._of(f"{name}.bias")
        return made

    def _normal(self, x: np.ndarray, name: str) -> np.ndarray:
        x -= x.mean(axis=1, keepdims=True)
        x /= np.sqrt(np.einsum("ij,ij->i", x, x) / x.shape[1] + self.tiny)[:, None]
        x *= self._of(f"{name}.weight")
        x += self._of(f"{name}.bias")
        return x

    def _of(self, name: str) -> np.ndarray:
        return self.weights[self.stem + name]


def gelu(x: np.ndarray) -> None:
    """Replace single-precision numbers x by x (1 + erf(x / √2)) / 2, in place."""
    # erf(x) = x P(x²) / Q(x²) for |x| ≤ 4, to 2e-7. SciPy's erf takes as long as the two products around it.
    p = (
        *(-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05),
        *(-7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02),
    )
    q = (
        *(-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03),
        *(-7.37332916720468e-03, -1.42647390514189e-02),
    )
    z = np.clip(x * np.float32(np.sqrt(0.5)), np.float32(-4), np.float32(4))
    square = z * z
    top, low = (np.full_like(x, coefficients[0]) for coefficients in (p, q))
    for values, coefficients in ((top, p), (low, q)):
        for coefficient in coefficients[1:]:
            values *= square
            values += np.float32(coefficient)
    z *= top
    z /= low
    z += 1
    z *= np.float32(0.5)
    x *= z


def suited(config: dict) -> bool:
    """Whether the model that a config.json describes can be computed here."""
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
    )


def _json(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
