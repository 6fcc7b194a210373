"""Three sets of real images as pixels, features of mercer's own and vectors of EfficientNet-Lite0, in one file.

    pip install '.[images]'
    python -m benchmarks.accuracy.image_sets FILE --data DIR --emoji TARBALL

Emoji by group come from the npm package emoji-datasource-twitter (TARBALL is its .tgz file); the 20 objects of COIL and
the handwritten digits of MNIST from DIR. 1,000 images of each set are drawn. FILE (NPZ, below 20 MB) has what
`python -m benchmarks.accuracy.images --vectors FILE` reads: that machine needs no package and no image.
"""

import argparse
import io
import json
import tarfile
import tempfile
from pathlib import Path

import numpy as np

ROWS, SIDE = 1000, 16


def emoji(path):
    """[(image, group)] of the groups with at least 80 images."""
    from PIL import Image

    with tarfile.open(path) as file:
        found = {}
        for one in json.load(file.extractfile("package/emoji.json")):
            found.setdefault(one["category"], []).append(one["image"])
        inside, pairs = set(file.getnames()), []
        for group, names in found.items():
            there = [name for name in names if f"package/img/twitter/64/{name}" in inside]
            for name in there if len(there) >= 80 else []:
                data = file.extractfile(f"package/img/twitter/64/{name}").read()
                pairs.append((Image.open(io.BytesIO(data)).convert("RGBA"), group))
    return pairs


def coil(folder):
    """[(image, object)] of 20 objects, each from 72 sides."""
    from PIL import Image

    with np.load(folder / "coil20_32.npz") as file:
        return [(Image.fromarray(row.reshape(32, 32)), f"object {k}") for row, k in zip(file["X"], file["y"])]


def digits(folder):
    """[(image, digit)]."""
    from PIL import Image

    with np.load(folder / "mnist.npz") as file:
        return [(Image.fromarray(x.reshape(28, 28)), f"digit {k}") for x, k in zip(file["X_test"], file["y_test"])]


def main():
    """Collect the sets, compute the features, write the file."""
    import pandas as pd
    from PIL import Image

    from mercer.inputs.models.images import image_model
    from mercer.inputs.tables import TableEncoder

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets")
    parser.add_argument("--emoji", type=Path, required=True, help="the npm package emoji-datasource-twitter")
    options = parser.parse_args()
    network, arrays = image_model("efficientnet-lite0"), {}
    for name, pairs in (
        ("emoji by group", emoji(options.emoji)),
        ("COIL objects", coil(options.data)),
        ("MNIST digits", digits(options.data)),
    ):
        chosen = np.random.default_rng(0).permutation(len(pairs))[:ROWS]
        with tempfile.TemporaryDirectory() as folder:
            names = [f"{i}.png" for i in range(len(chosen))]
            for file, i in zip(names, chosen):
                pairs[i][0].save(Path(folder) / file)
            frame = pd.DataFrame({"image": names})
            frame.attrs["folder"] = folder
            arrays[f"{name}/own"] = TableEncoder(image_model="none").fit_transform(frame).astype(np.float16)
        white = [on_white(pairs[i][0]) for i in chosen]
        arrays[f"{name}/network"] = network.encode(white).astype(np.float16)
        small = [np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BOX)).ravel() for image in white]
        arrays[f"{name}/pixels"] = np.array(small, dtype=np.uint8)
        arrays[f"{name}/class"] = np.array([pairs[i][1] for i in chosen])
        print(f"{name}: {len(chosen)} images of {len(np.unique(arrays[f'{name}/class']))} classes", flush=True)
    np.savez_compressed(options.file, **arrays)
    print(f"{options.file}: {options.file.stat().st_size / 1e6:.1f} MB")


def on_white(image):
    """As mercer opens images: transparent pixels are white."""
    from PIL import Image

    image = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")


if __name__ == "__main__":
    main()
