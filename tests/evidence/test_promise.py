"""A promise about wrong predictions from random checks is made when it can be, and kept at any number of looks."""

import numpy as np
import pytest
from scipy.stats import binom

from mercer.evidence.promise import kept, missing


def test_it_takes_a_few_more_checks_than_a_single_look():
    for wrong, most in ((0, 70), (1, 145), (3, 230)):
        first = next(m for m in range(1, 2000) if kept(wrong, m, 10**6, 0.05))
        single = next(m for m in range(1, 2000) if binom.cdf(wrong, m, 0.05) <= 0.05)
        assert single < first <= most
    assert not kept(5, 100, 10**6, 0.05) and not kept(0, 0, 10**6, 0.05)


def test_many_rows_are_as_if_drawn_with_replacement():
    for wrong, checks in ((0, 68), (0, 67), (1, 140), (2, 190), (2, 180)):
        assert kept(wrong, checks, 100_000, 0.05) == kept(wrong, checks, 100_001, 0.05)


def test_the_promise_is_about_the_rows_that_were_not_checked():
    assert kept(0, 20, 20, 0.05) and kept(4, 20, 20, 0.05)  # nothing is left
    assert not kept(0, 10, 20, 0.05)  # one wrong one of ten breaks it, and ten checks cannot exclude that
    assert not kept(0, 68, 200, 0.05)  # 10 of 200 would be 10 of the 132 that are left


def test_missing_checks_are_those_that_suffice():
    for wrong, checks, expected in ((0, 20, 0.0), (1, 50, 0.01), (2, 60, 0.02)):
        more = missing(wrong, checks, 10_000, 0.05, 0.05, expected)
        assert more and kept(wrong + int(expected * more), checks + more, 10_000, 0.05)
        assert not kept(wrong + int(expected * (more - 1)), checks + more - 1, 10_000, 0.05)
    assert missing(0, 100, 10_000, 0.05, 0.05, 0.0) == 0
    assert missing(10, 50, 10_000, 0.05, 0.05, 0.06) is None


@pytest.mark.parametrize(("rows", "rate", "true"), [(300, 0.1, 0.104), (1000, 0.05, 0.052), (1000, 0.1, 0.13)])
def test_the_promise_is_kept_if_one_looks_after_every_check(rows, rate, true):
    rng, broken = np.random.default_rng(0), 0
    for _ in range(200):
        wrong = np.cumsum(rng.permutation(rows) < round(true * rows))
        for m in range(1, min(rows, 400)):
            s = int(wrong[m - 1])
            if wrong[-1] - s > rate * (rows - m) and kept(s, m, rows, rate):
                broken += 1
                break
    assert broken <= 0.05 * 200
