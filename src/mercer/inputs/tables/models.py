"""Models that the user has: functions, sentence-transformers and timm models by name. Nothing is downloaded."""

import functools
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...backend import need
from ...errors import InputError
from .formats.base import installed

SIDE = 224
_MEAN, _SPREAD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, which most models were trained on


def text_model(model: str | Callable) -> Callable[[Sequence[str]], Any]:
    """The function from texts to vectors: a function as it is, a name by sentence-transformers."""
    return _sentences(model).encode if isinstance(model, str) else model


def image_model(model: Any) -> Callable[[Sequence[Any]], np.ndarray]:
    """The function from images to vectors of a torch module, or of one that is named."""
    module = _vision(model) if isinstance(model, str) else model
    torch = need("torch")
    about = getattr(module, "pretrained_cfg", {})  # of timm
    side = getattr(module, "side", about.get("input_size", (SIDE,))[-1])
    mean, spread = about.get("mean", _MEAN), about.get("std", _SPREAD)

    def run(images):
        pixels = [np.asarray(image.resize((side, side)), np.float32) for image in images]
        batch = (np.stack(pixels) / 255 - mean) / spread
        with torch.no_grad():
            answer = module(torch.as_tensor(batch, dtype=torch.float32).permute(0, 3, 1, 2))
        return answer.reshape(len(answer), -1).cpu().numpy()

    return run


@functools.lru_cache(maxsize=2)
def _sentences(name):
    package = _offline("sentence_transformers", f"The text model {name!r}")
    try:
        return package.SentenceTransformer(name, local_files_only=True)
    except Exception as error:  # each version has types of its own
        raise _absent("text", name, error) from None


@functools.lru_cache(maxsize=2)
def _vision(name):
    torch = need("torch")
    try:
        if Path(name).is_file():
            return torch.jit.load(name, map_location="cpu").eval()
        return _offline("timm", f"The image model {name!r}").create_model(name, pretrained=True, num_classes=0).eval()
    except InputError:
        raise
    except Exception as error:
        raise _absent("image", name, error) from None


def _offline(package, what):
    """A package that might download, imported with the flags that forbid it."""
    os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"
    return installed(package, what)


def _absent(kind, name, error):
    why = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
    return InputError(
        f"The {kind} model {name!r} is not on this machine ({why}). Nothing is downloaded: fetch it first, or give the "
        "folder or file that holds it."
    )
