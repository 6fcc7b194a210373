"""Networks for images, with weights without PyTorch, EfficientNet-Lite0 in NumPy, and the choice of a network."""

import pickle

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer.errors import InputError
from mercer.inputs.models import images as finding
from mercer.inputs.models.checkpoint import saved_tensors
from mercer.inputs.models.efficientnet import LAYOUT, EfficientNetLite0
from mercer.inputs.models.images import image_model
from mercer.inputs.tables import TableClassifier, TableEncoder

Image = pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """A file of random weights of the network with few channels, as old versions of PyTorch write it."""
    torch = pytest.importorskip("torch")
    rng, state, width = np.random.default_rng(0), {}, 4

    def layer(conv, norm, *shape):
        gain = np.sqrt(2 / np.prod(shape[1:]))
        state[f"{conv}.weight"] = rng.normal(size=shape) * gain
        for part in ("weight", "bias", "running_mean", "running_var"):
            state[f"{norm}.{part}"] = 0.2 * rng.normal(size=shape[0]) + (part in ("weight", "running_var"))
        state[f"{norm}.running_var"] = np.abs(state[f"{norm}.running_var"]) + 0.5

    layer("_conv_stem", "_bn0", width, 3, 3, 3)
    for i in range(len(LAYOUT.strides)):
        wide = width if i == 0 else 2 * width
        if i:
            layer(f"_blocks.{i}._expand_conv", f"_blocks.{i}._bn0", wide, width, 1, 1)
        size = 5 if i in (3, 4, 8, 9, 10, 11) else 3
        layer(f"_blocks.{i}._depthwise_conv", f"_blocks.{i}._bn1", wide, 1, size, size)
        new = width + (i in (1, 3, 5))
        layer(f"_blocks.{i}._project_conv", f"_blocks.{i}._bn2", new, wide, 1, 1)
        width = new
    layer("_conv_head", "_bn1", 12, width, 1, 1)
    path = tmp_path_factory.mktemp("weights") / "small.pth"
    tensors = {name: torch.tensor(array, dtype=torch.float32) for name, array in state.items()}
    torch.save(tensors, path, _use_new_zipfile_serialization=False)
    return path, tensors


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("photos") / "animals", np.random.default_rng(0)
    folder.mkdir()
    for i in range(24):
        pixels = rng.integers(0, 60, size=(20 + i, 30, 3)) + np.array([150, 40, 0] if i % 2 else [0, 40, 150])
        Image.fromarray(pixels.astype(np.uint8)).save(folder / f"{i:02d}.png")
    return folder


def by_torch(tensors, pixels):
    """The network by PyTorch's own functions."""
    import torch
    from torch.nn import functional as F

    def layer(x, conv, norm, stride=1, groups=1):
        weight = tensors[f"{conv}.weight"]
        k, size = weight.shape[-1], x.shape[-1]
        more = max((-(-size // stride) - 1) * stride + k - size, 0)
        x = F.conv2d(F.pad(x, [more // 2, more - more // 2] * 2), weight, stride=stride, groups=groups)
        parts = [tensors[f"{norm}.{part}"] for part in ("running_mean", "running_var", "weight", "bias")]
        return F.batch_norm(x, *parts, eps=1e-3)

    x = F.relu6(layer(torch.as_tensor(pixels)[None].permute(0, 3, 1, 2), "_conv_stem", "_bn0", 2))
    for i, stride in enumerate(LAYOUT.strides):
        stem, entered = f"_blocks.{i}.", x
        if f"{stem}_expand_conv.weight" in tensors:
            x = F.relu6(layer(x, f"{stem}_expand_conv", f"{stem}_bn0"))
        x = F.relu6(layer(x, f"{stem}_depthwise_conv", f"{stem}_bn1", stride, x.shape[1]))
        x = layer(x, f"{stem}_project_conv", f"{stem}_bn2")
        x = x + entered if stride == 1 and x.shape == entered.shape else x
    return F.relu6(layer(x, "_conv_head", "_bn1")).mean(dim=(2, 3))[0].numpy()


def test_the_network_is_what_pytorch_computes(weights, photos):
    path, tensors = weights
    image = Image.open(photos / "03.png")
    pixels = np.asarray(image.convert("RGB").resize((LAYOUT.side, LAYOUT.side), Image.Resampling.BICUBIC), np.float32)
    expected = by_torch(tensors, (pixels - np.float32(LAYOUT.mean)) / np.float32(LAYOUT.spread))
    assert np.ptp(expected) > 0.05
    np.testing.assert_allclose(EfficientNetLite0(path).encode([image])[0], expected, atol=1e-4)


def test_weights_are_read_without_pytorch_and_nothing_is_executed(weights, tmp_path):
    path, tensors = weights
    found = saved_tensors(path)
    assert set(found) == set(tensors)
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(found[name], tensor.numpy())
    (tmp_path / "cut.pth").write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"cut\.pth does not contain readable weights"):
        saved_tensors(tmp_path / "cut.pth")

    class Evil:
        def __reduce__(self):
            return (print, ("executed",))

    (tmp_path / "evil.pth").write_bytes(b"".join(pickle.dumps(one) for one in (0x1950A86A20F9469CFC6C, 1, {}, Evil())))
    with pytest.raises(InputError, match=r"it contains builtins\.print"):
        saved_tensors(tmp_path / "evil.pth")
    (tmp_path / "text.pth").write_text("hello")
    with pytest.raises(InputError, match="does not contain readable weights"):
        saved_tensors(tmp_path / "text.pth")


def test_the_installed_network_is_next_to_our_features(weights, photos, monkeypatch, tmp_path):
    frame = pd.DataFrame({"photo": [f"{i:02d}.png" for i in range(24)]})
    frame.attrs["folder"] = frame.attrs["cache"] = str(photos)
    monkeypatch.setattr(finding, "_place", lambda: None)
    plain = TableEncoder().fit_transform(frame)
    monkeypatch.setattr(finding, "_place", lambda: weights[0])
    finding._lite.cache_clear()
    asked = []
    encode = EfficientNetLite0.encode
    monkeypatch.setattr(EfficientNetLite0, "encode", lambda *given: asked.append(len(given[1])) or encode(*given))
    encoder = TableEncoder()
    X = encoder.fit_transform(frame)
    assert X.shape[1] == plain.shape[1] + 12 and encoder.columns_[0].use.endswith("vectors of EfficientNet-Lite0")
    np.testing.assert_array_equal(TableEncoder().fit_transform(frame), X)
    assert asked == [24]  # the second time from the disk
    np.testing.assert_array_equal(TableEncoder(image_model="none").fit_transform(frame), plain)
    frame.loc[3, "photo"] = "none.png"
    assert not TableEncoder().fit_transform(frame)[3].any()
    model = mercer.LSSVMClassifier().fit(X, np.arange(24) % 2)
    mercer.save(TableClassifier(encoder, model, "kind", {}), tmp_path / "m.mercer")
    monkeypatch.setattr(finding, "_place", lambda: None)
    with pytest.raises(
        InputError, match=r"'EfficientNet-Lite0', with which .* is not installed\..*: pip install '.\[i"
    ):
        mercer.load(tmp_path / "m.mercer").predict(frame)
    finding._lite.cache_clear()


def test_an_onnx_network_takes_pixels(photos, tmp_path):
    onnx, _ = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    helper, types = onnx.helper, onnx.TensorProto
    given = helper.make_tensor_value_info("pixels", types.FLOAT, ["n", 3, 8, 8])
    out = helper.make_tensor_value_info("features", types.FLOAT, ["n", 3, 1, 1])
    graph = helper.make_graph([helper.make_node("GlobalAveragePool", ["pixels"], ["features"])], "g", [given], [out])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(made, tmp_path / "pool.onnx")
    image = Image.open(photos / "03.png").convert("RGB")
    pixels = (np.asarray(image.resize((8, 8)), float) / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    found = image_model(tmp_path / "pool.onnx").encode([image])
    np.testing.assert_allclose(found[0], pixels.mean(axis=(0, 1)), atol=1e-5)
    (tmp_path / "bad.onnx").write_text("hello")
    with pytest.raises(InputError, match=r"bad\.onnx' is not on this machine"):
        image_model(str(tmp_path / "bad.onnx"))
    with pytest.raises(InputError, match="Invalid image_model=7; expected 'auto', 'none', 'efficientnet-lite0'"):
        image_model(7)


def test_the_carried_network_tells_flowers_from_buildings():
    if finding._place() is None:
        pytest.skip("no package that carries EfficientNet-Lite0 is installed")
    from sklearn.datasets import load_sample_images

    temple, flower = (Image.fromarray(pixels) for pixels in load_sample_images().images)
    rows = image_model("auto").encode([temple, flower, temple.resize((300, 200)), flower.crop((40, 40, 600, 400))])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    similar = rows @ rows.T
    assert similar[0, 2] > 0.9 and similar[1, 3] > 0.7 and similar[0, 1] < 0.3
