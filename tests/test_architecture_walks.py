"""Ceilings of the walks that `benchmarks/walks.py` counts: what a fit, a lesson and the command pass in mercer.

The first ceiling of a pair is of the rooms above the estimators, the second of all rooms. They may only fall.
"""

from functools import cache

import pytest

from benchmarks import walks


@cache
def walk(name):
    return walks.WALKS[name]()


@pytest.mark.parametrize(
    ("name", "files", "depth"),
    [("fit", (24, 68), (10, 18)), ("teach", (19, 47), (11, 14)), ("label", (47, 109), (16, 24))],
)
def test_walks_stay_short(name, files, depth):
    one = walk(name)
    assert len(one.upper) <= files[0] and len(one.files) <= files[1], one.files
    assert len(one.upper_deepest) <= depth[0], one.upper_deepest
    assert one.depth <= depth[1], one.deepest


@pytest.mark.parametrize(("name", "checks"), [("fit", 1), ("teach", 0), ("label", 1)])
def test_rows_are_checked_once(name, checks):
    assert walk(name).count("check_rows") == checks


def test_each_view_has_one_neighbor_search():
    """A graph of 10, 5 and 20 neighbors on one view takes its neighbors from one search, and teaching makes none."""
    one = walk("fit")
    assert one.count("_graph", "few_label/plan.py") == 5  # of three views, as given, standardized, leading components
    assert one.searches == [1, 1, 1]
    assert walk("teach").searches == []


def test_the_command_reads_the_table_and_the_target_once():
    one = walk("label")
    assert one.count("read_target_as") == 1
    assert one.count("read_table") == 1
