"""Tables of token vectors (model2vec, wordllama). The vector of a text is the mean over its tokens."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError
from ..packages import installed
from .weights import fingerprint, tensors
from .wordpiece import WordPiece


class TokenTable:
    """A table of token vectors with its tokenizer.

    Parameters
    ----------
    weights : safetensors file.
    tokenizer : tokenizer.json, as the package tokenizers writes it.

    Attributes
    ----------
    name : name for messages.
    mark : fingerprint of its weights and vocabulary.
    width : length of a vector.
    """

    slow = False

    def __init__(self, weights: Path, tokenizer: Path, name: str) -> None:
        found = tensors(weights)
        names = ("embeddings", "embedding.weight")  # of the table, in model2vec and in wordllama
        table = next((found[key] for key in names if key in found), None)
        if table is None or table.ndim != 2:
            raise InputError(f"{weights} does not contain a table of token vectors named {' or '.join(names)}.")
        self.name, self.mark, self.width = name, fingerprint([weights, tokenizer]), table.shape[1]
        gains, places = found.get("weights"), found.get("mapping")
        self.table = np.asarray(table, dtype=np.float32)
        if places is not None:  # several tokens have the same vector
            self.table = self.table[np.asarray(places)]
        if gains is not None:
            self.table = self.table * np.asarray(gains, dtype=np.float32)[:, None]
        self.tokens, self.nothing = _tokenizer(tokenizer)

    def encode(self, texts: Sequence[str], on_part: Callable[[int], None] | None = None) -> np.ndarray:
        """(n, width) vectors of the texts, with zeros for a text without a known token."""
        made = np.zeros((len(texts), self.width), dtype=np.float32)
        at_once = 512
        for begin in range(0, len(texts), at_once):
            for place, ids in enumerate(self._ids(texts[begin : begin + at_once]), start=begin):
                if len(ids):
                    made[place] = self.table[ids].mean(axis=0)
            if on_part is not None:
                on_part(min(begin + at_once, len(texts)))
        return made

    def unknown(self, texts: Sequence[str]) -> float:
        """The fraction of the tokens that are not in the vocabulary."""
        counts = [(len(ids), len(known)) for ids, known in zip(self.tokens(_cut(texts)), self._ids(texts))]
        return 1 - sum(known for _, known in counts) / max(sum(n for n, _ in counts), 1)

    def _ids(self, texts: Sequence[str]) -> list[np.ndarray]:
        found = [np.asarray(ids, dtype=np.int64) for ids in self.tokens(_cut(texts))]
        return [ids[~np.isin(ids, self.nothing) & (ids < len(self.table))] for ids in found]


def _cut(texts: Sequence[str]) -> list[str]:
    return [text[:8_000] for text in texts]


def _tokenizer(path: Path) -> tuple[Callable[[list[str]], Any], list[int]]:
    """(function from texts to lists of numbers of tokens, the numbers of unknown words and of single bytes)."""
    own = WordPiece.read(path.parent) if path.name == "tokenizer.json" else None
    if own is not None:
        return lambda texts: list(map(own.tokens, texts)), [own.unknown]
    package = installed("tokenizers", f"The vocabulary {path.name}")
    made = package.Tokenizer.from_file(str(path))
    made.no_padding()
    made.no_truncation()
    unknown = json.loads(path.read_text(encoding="utf-8"))["model"].get("unk_token")
    byte = re.compile("<0x[0-9A-F]{2}>")  # of a letter that is not in the vocabulary
    nothing = [number for token, number in made.get_vocab().items() if token == unknown or byte.fullmatch(token)]
    return lambda texts: [one.ids for one in made.encode_batch(texts, add_special_tokens=False)], nothing
