"""Reports of tables of images show the images, small and inside the file."""

import re

import numpy as np
import pandas as pd
import pytest

from mercer.jobs import classes, dataset
from mercer.jobs.class_findings import findings
from mercer.jobs.options import AnswerOptions, ReadOptions, SearchOptions
from mercer.report import render


def test_rows_of_images_have_their_picture(tmp_path):
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    for i in range(40):
        image.fromarray((rng.random((300, 200)) * 60 + 190 * (i % 2)).clip(0, 255).astype(np.uint8)).save(
            tmp_path / f"{i}.png"
        )
    kind = ["dark" if i % 2 == 0 else "light" for i in range(40)]
    pd.DataFrame({"file": [f"{i}.png" for i in range(40)], "kind": [*kind[:8], *[""] * 32]}).to_csv(
        tmp_path / "photos.csv", index=False
    )
    (data,) = dataset.read(tmp_path / "photos.csv", ["kind"], ReadOptions())
    fitted = classes.fit(data, SearchOptions(["lssvm"]))
    options = AnswerOptions()
    page = render(findings(data, fitted, classes.answer(data, fitted, options), options, "out.csv"))
    found = re.findall(r'<img src="data:image/png;base64,([^"]+)" alt="Picture of', page)
    assert len(found) >= 10 and max(map(len, found)) < 40_000
    assert page.index("<h2>The rows</h2>") < page.index("<h2>Rows to label next</h2>")  # the result comes first
