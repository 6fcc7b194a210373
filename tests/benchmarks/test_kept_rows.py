"""Runs of a benchmark that are kept in a file, and means with standard errors over draws."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from benchmarks.harness import kept_rows, over_draws, with_error


def squared(task):
    """Rows of one task, and a trace of the call."""
    folder, number = task
    with open(folder / "calls", "a") as calls:
        calls.write(f"{number}\n")
    return [{"number": number, "square": number**2}, {"number": number, "square": -1}]


def test_rows_come_in_the_order_of_the_tasks_and_are_computed_once(tmp_path):
    file, tasks = tmp_path / "out" / "rows.jsonl", [(tmp_path, number) for number in (3, 1, 2)]
    first = kept_rows(squared, tasks[:2], 2, file)
    assert [row["square"] for row in first] == [9, -1, 1, -1]
    assert [row["number"] for row in kept_rows(squared, tasks, 1, file)] == [3, 3, 1, 1, 2, 2]
    assert sorted((tmp_path / "calls").read_text().split()) == ["1", "2", "3"]
    assert str(tmp_path.parent) not in file.read_text()  # of a path only its name
    assert len(kept_rows(squared, tasks[:1], 1)) == 2  # without a file nothing is kept
    assert len(file.read_text().splitlines()) == 3


def test_the_standard_error_is_that_of_the_mean_over_sets():
    rng = np.random.default_rng(0)
    means, rows = [], []
    for _ in range(2000):  # two sets with means of 10 and 50, three draws each, two rows of a draw that are the same
        rows = [
            {"set": name, "draw": draw, "error": value}
            for name, middle in (("a", 10), ("b", 50))
            for draw, value in enumerate(rng.normal(middle, 2, 3))
            for _ in range(2)
        ]
        means.append(over_draws(rows, "error"))
    found = np.array(means)
    truth = 2 / math.sqrt(6)
    assert found[:, 0].mean() == pytest.approx(30, abs=0.1)
    assert found[:, 0].std() == pytest.approx(truth, rel=0.05)
    assert np.sqrt(np.mean(found[:, 1] ** 2)) == pytest.approx(truth, rel=0.05)
    assert math.isnan(over_draws([row for row in rows if row["draw"] == 0], "error")[1])


def test_a_mean_with_its_standard_error():
    assert with_error([1.0, 2.0, 3.0]) == "2.0 ± 0.6"
    assert with_error([2.0]) == "2.0"


def test_a_path_in_a_task_is_written_by_its_name(tmp_path):
    kept_rows(squared, [(tmp_path, 4)], 1, tmp_path / "rows")
    assert json.loads(json.loads((tmp_path / "rows").read_text())[0]) == [Path(tmp_path).name, 4]
