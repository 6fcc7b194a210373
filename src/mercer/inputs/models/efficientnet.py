"""EfficientNet-Lite0, a small network for photographs, computed with NumPy and numba instead of PyTorch."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...backend import need
from ...errors import InputError
from .checkpoint import saved_tensors
from .weights import fingerprint


class Layout(NamedTuple):
    """How the network was built and trained."""

    side: int = 224  # pixels of an image
    mean: float = 127.0  # of the pixels
    spread: float = 128.0  # of the pixels
    epsilon: float = 1e-3  # added to the variances of the normalization
    strides: tuple[int, ...] = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1)  # of the sixteen blocks


LAYOUT = Layout()


class EfficientNetLite0:
    """The network without its last layer. It returns 1,280 numbers per image.

    Attributes
    ----------
    name : name for messages.
    mark : fingerprint of its weights.
    """

    name = "EfficientNet-Lite0"
    slow = True

    def __init__(self, path: str | Path) -> None:
        self.mark, found = fingerprint([path]), saved_tensors(path)
        try:
            self.stem = self._folded(found, "_conv_stem", "_bn0")
            self.blocks = [
                [
                    self._folded(found, f"_blocks.{i}.{conv}", f"_blocks.{i}.{norm}")
                    for conv, norm in (("_expand_conv", "_bn0"), ("_depthwise_conv", "_bn1"), ("_project_conv", "_bn2"))
                    if f"_blocks.{i}.{conv}.weight" in found
                ]
                for i in range(len(LAYOUT.strides))
            ]
            self.head = self._folded(found, "_conv_head", "_bn1")
        except KeyError as error:
            raise InputError(f"{path} has no weights {error}, so it is not EfficientNet-Lite0.") from None

    @staticmethod
    def _folded(found: dict[str, np.ndarray], conv: str, norm: str) -> tuple[np.ndarray, np.ndarray]:
        """((k, k, channels in, channels out) weights, shifts), the normalization included."""
        gain = found[f"{norm}.weight"] / np.sqrt(found[f"{norm}.running_var"] + LAYOUT.epsilon)
        weights = (found[f"{conv}.weight"] * gain[:, None, None, None]).transpose(2, 3, 1, 0)
        shift = found[f"{norm}.bias"] - found[f"{norm}.running_mean"] * gain
        return np.ascontiguousarray(weights, dtype=np.float32), shift.astype(np.float32)

    def encode(self, images: Sequence[Any], on_part: Callable[[int], None] | None = None) -> np.ndarray:
        """(n, 1280) of Pillow images."""
        made = np.zeros((len(images), self.head[0].shape[-1]), dtype=np.float32)
        bicubic = need("PIL.Image").Resampling.BICUBIC
        for i, image in enumerate(images):
            pixels = np.asarray(image.convert("RGB").resize((LAYOUT.side, LAYOUT.side), bicubic), dtype=np.float32)
            made[i] = self._forward((pixels - np.float32(LAYOUT.mean)) / np.float32(LAYOUT.spread))
            if on_part is not None:
                on_part(i + 1)
        return made

    def _forward(self, x: np.ndarray) -> np.ndarray:
        from .depthwise import depthwise

        weights, shift = self.stem
        windows = np.lib.stride_tricks.sliding_window_view(_padded(x, 3, 2), (3, 3), axis=(0, 1))[::2, ::2]
        x = _relu6(np.tensordot(windows, weights, ((3, 4, 2), (0, 1, 2))), shift)
        for parts, stride in zip(self.blocks, LAYOUT.strides):
            entered = x
            if len(parts) == 3:
                x = _relu6(x @ parts[0][0][0, 0], parts[0][1])
            weights, shift = parts[-2]
            kernel = np.ascontiguousarray(weights[:, :, 0])
            x = _relu6(depthwise(_padded(x, len(kernel), stride), kernel, stride), shift)
            x = x @ parts[-1][0][0, 0] + parts[-1][1]
            if stride == 1 and x.shape == entered.shape:
                x += entered
        return _relu6(x @ self.head[0][0, 0], self.head[1]).mean(axis=(0, 1))


def _relu6(x: np.ndarray, shift: np.ndarray) -> np.ndarray:
    x += shift
    return np.clip(x, 0, 6, out=x)


def _padded(x: np.ndarray, k: int, stride: int) -> np.ndarray:
    """The pixels with zeros around, so that there are ⌈size / stride⌉ windows."""
    sides = []
    for size in x.shape[:2]:
        more = max((-(-size // stride) - 1) * stride + k - size, 0)
        sides.append((more // 2, more - more // 2))
    return np.ascontiguousarray(np.pad(x, [*sides, (0, 0)]))
