"""`mercer studio --demo`: handwritten digits as a table with pictures, and no label."""

from pathlib import Path

import numpy as np

from ..backend import need
from ..datasets.digits import few_label_digits
from ..files import replacing

SIDE = 64  # pixels of a picture


def write_demo(folder: str | Path | None) -> tuple[Path, str, dict, list]:
    """(table, target, options, classes) of the demonstration. The table is written unless the folder contains it."""
    folder = Path(folder or "mercer-demo")
    pictures = folder / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    table = folder / "digits.csv"
    if not table.exists():
        frame, _ = few_label_digits(0)
        pixels = frame.drop(columns=["image", "digit"]).to_numpy().reshape(-1, 8, 8)
        frame["picture"] = [f"pictures/{i + 1}.png" for i in range(len(frame))]
        frame["digit"] = ""
        image = need("PIL.Image")
        for name, one in zip(frame["picture"], pixels):
            gray = np.kron(255 - np.round(one * 255 / 16), np.ones((SIDE // 8, SIDE // 8))).astype(np.uint8)
            image.fromarray(gray).save(folder / name)
        with replacing(table, force=True) as (part,):
            frame.to_csv(part, index=False)
    return table, "digit", {"id": "image", "image": "picture", "show": False}, [str(digit) for digit in range(10)]
