"""--links: the command gives what Python gives, finds the column that names the rows, and refuses what cannot be."""

import json

import numpy as np
import pandas as pd
import pytest

from cli.command import here
from mercer import FewLabelClassifier
from mercer.inputs.links import link_matrix

QUICK = ("-m", "lssvm,diffusion", "-q")


@pytest.fixture
def pages(tmp_path):
    """Pages of two topics that only their links tell apart; one link leaves the table."""
    rng = np.random.default_rng(0)
    topic = np.array(["food", "law"])[np.arange(60) % 2]
    frame = pd.DataFrame({"url": [f"p{i}.html" for i in range(60)], "words": rng.normal(500, 100, 60).round(1)})
    frame["topic"] = np.where(np.isin(np.arange(60), rng.choice(60, 14, replace=False)), topic, "")
    ends = [(i, 2 * int(rng.integers(30)) + i % 2) for i in range(60) for _ in range(3)]
    links = pd.DataFrame([(f"p{i}.html", f"p{j}.html") for i, j in ends] + [("p1.html", "elsewhere")])
    links.columns = ["from", "to"]
    frame.to_csv(tmp_path / "pages.csv", index=False)
    links.to_csv(tmp_path / "links.csv", index=False)
    return tmp_path, frame, links, topic


def test_label_gives_what_python_gives(pages):
    folder, frame, links, topic = pages
    out, saved = folder / "out.csv", folder / "m.mercer"
    data = (folder / "pages.csv", "-t", "topic", "--links", folder / "links.csv")
    run = here("label", *data, "-o", out, "-s", saved, "-m", "lssvm,diffusion", "--json")
    assert run.exit_code == 0, run.output
    said = " ".join(json.loads(run.stdout)["notes"])
    assert "180 links between rows, which 'url' names" in said and "1 links end outside the table" in said
    W, _ = link_matrix(frame["url"], links["from"], links["to"])
    y = frame["topic"].replace("", None).to_numpy(dtype=object)
    model = FewLabelClassifier(["lssvm", "diffusion"], missing_label=[None], random_state=0)
    model.fit(frame[["words"]], y, graph=W)
    written = pd.read_csv(out, keep_default_na=False)
    assert written["topic_predicted"].tolist() == model.transduction_.tolist()
    assert np.mean(written["topic_predicted"] == topic) > 0.9
    assert here("label", *data[:3], "-o", folder / "plain.csv", *QUICK).exit_code == 0
    assert np.mean(pd.read_csv(folder / "plain.csv")["topic_predicted"] == topic) < 0.8
    assert here("predict", saved, folder / "pages.csv", "-o", folder / "again.csv", "-q").exit_code == 0
    assert np.mean(pd.read_csv(folder / "again.csv")["topic_predicted"] == topic) > 0.9


def test_what_cannot_be_is_refused(pages):
    folder, frame, links, _ = pages
    data = (folder / "pages.csv", "-t", "topic", "--links")
    links[["from"]].to_csv(folder / "one.csv", index=False)
    run = here("label", *data, folder / "one.csv", *QUICK)
    assert run.exit_code != 0 and "the two ends of a link" in run.output
    links.map(lambda name: f"x{name}").to_csv(folder / "other.csv", index=False)
    run = here("label", *data, folder / "other.csv", *QUICK)
    assert run.exit_code != 0 and "No column of the table has a value at which a link" in run.output
    run = here("label", *data, folder / "links.csv", "-m", "lssvm", "-q")
    assert run.exit_code != 0 and "None of these methods uses the links" in run.output
    assert here("suggest", *data, folder / "links.csv", "-n", "2", *QUICK).exit_code == 0
    parts = folder / "parts"
    parts.mkdir()
    frame.to_csv(parts / "a.csv", index=False)
    run = here("label", parts, "-t", "topic", "--links", folder / "links.csv", *QUICK)
    assert run.exit_code != 0 and "--links is for one table" in run.output
