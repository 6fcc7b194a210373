"""Sentence models as ONNX files, run by onnxruntime."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError
from ..packages import installed
from .pieces import in_pieces
from .weights import fingerprint
from .wordpiece import WordPiece


class OnnxTexts:
    """An ONNX file of a sentence model. Its tokenizer.json or vocab.txt is next to it or in the folder above.

    Attributes
    ----------
    name : name for messages.
    mark : fingerprint of the file.
    width : length of a vector, 0 before the first text.
    """

    slow = True

    def __init__(self, path: str | Path) -> None:
        path = Path(path)
        self.name, self.width = path.name, 0
        places = (path.parent, path.parent.parent)
        words = next((one for one in map(WordPiece.read, places) if one is not None), None)
        if words is None or not words.ends:
            raise InputError(
                f"There is no WordPiece vocabulary for {path}. Put the tokenizer.json or vocab.txt of the model next "
                "to the file."
            )
        runtime = installed("onnxruntime", f"The text model {path.name}")
        self.words, self.mark = words, fingerprint([path])
        try:
            self.session: Any = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has its own types of errors
            raise InputError(f"{path} is not a readable ONNX model ({_first_line(error)}).") from None
        self.inputs = [one.name for one in self.session.get_inputs()]
        known = {"input_ids", "attention_mask", "token_type_ids"}
        if not {"input_ids"} <= set(self.inputs) <= known:
            raise InputError(
                f"{path} has the inputs {', '.join(self.inputs)}. Accepted: input_ids, attention_mask and, if the "
                "model has it, token_type_ids."
            )

    def encode(self, texts: Sequence[str], on_part: Callable[[int], None] | None = None) -> np.ndarray:
        """(n, width) the output of the model for each text, or the mean over its tokens, in at most two pieces."""
        tokens = [self.words.tokens(text) for text in texts]
        made = in_pieces(tokens, 254, self._forward, self.width, on_part)  # 256 with the two that mark the ends
        self.width = made.shape[1]
        return made

    def unknown(self, texts: Sequence[str]) -> float:
        """The fraction of the tokens that are not in the vocabulary, or single letters of another script."""
        return self.words.foreign_in(texts)

    def _forward(self, pieces: list[list[int]]) -> np.ndarray:
        begin, end = self.words.ends
        ids = np.zeros((len(pieces), max(map(len, pieces)) + 2), dtype=np.int64)
        there = np.zeros_like(ids)
        for i, piece in enumerate(pieces):
            ids[i, : len(piece) + 2], there[i, : len(piece) + 2] = [begin, *piece, end], 1
        given = {"input_ids": ids, "attention_mask": there, "token_type_ids": np.zeros_like(ids)}
        found = self.session.run(None, {name: given[name] for name in self.inputs})
        flat = next((one for one in found if one.ndim == 2), None)
        if flat is not None:
            return flat
        return np.einsum("nlw,nl->nw", found[0], there) / there.sum(axis=1)[:, None]


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
