"""The model of the standard sizes, prepared while the first one predicts."""

import time

import numpy as np
import pytest

from mercer import FewLabelClassifier
from mercer.errors import InputError
from mercer.studio.kinds import kind_of
from mercer.studio.preparation import Preparation


def wait(preparation):
    end = time.monotonic() + 60
    while not preparation.done and time.monotonic() < end:
        time.sleep(0.01)
    assert preparation.done


def test_it_goes_on_only_while_it_may_and_is_the_model_of_python():
    X = np.random.default_rng(0).normal(size=(60, 3))
    preparation = Preparation(kind_of(False).model(), X)
    time.sleep(0.3)
    assert not preparation.done
    with preparation.going_on():
        wait(preparation)
    rows, y = np.arange(6), np.array(["a", "b", "b", "a", "b", "a", *[None] * 54], dtype=object)
    found = preparation.model.taught(rows, y[:6])
    np.testing.assert_array_equal(found.probabilities_, FewLabelClassifier().fit(X, y).probabilities_)


def test_why_there_is_no_model():
    preparation = Preparation(kind_of(False).model(), np.array([[0.0], [np.inf], [1.0]]))
    with preparation.going_on():
        wait(preparation)
    with pytest.raises(InputError, match=r"could not be prepared: .*infinity"):
        _ = preparation.model
