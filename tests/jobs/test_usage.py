"""Mistakes in what was requested."""

import pytest

from mercer.errors import InputError
from mercer.jobs.usage import UsageError, did_you_mean


@pytest.mark.parametrize(
    ("word", "sentence"),
    [("alpa", "Did you mean alpha?"), ("ALPHA", "Did you mean alpha?"), ("x", "Accepted: alpha, beta.")],
)
def test_the_nearest_word_is_offered_or_all_of_them(word, sentence):
    assert did_you_mean(word, ["alpha", "beta"]) == sentence


def test_a_mistake_in_the_command_is_not_a_mistake_in_the_data():
    assert not issubclass(UsageError, InputError)
