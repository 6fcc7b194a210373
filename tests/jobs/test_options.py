"""What a user may ask for, and what is refused."""

import pytest

from mercer.jobs.options import AnswerOptions, ReadOptions, methods_named
from mercer.jobs.usage import UsageError


def test_kinds_and_vectors_of_columns():
    options = ReadOptions(text=["a"], number=["b"], embed=["c", "vectors.npy"], delimiter="tab")
    assert options.kinds["embed"] == ["c"] and options.vectors == ["vectors.npy"]
    assert options.asked == ["a", "b"] and options.file["delimiter"] == "\t"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (AnswerOptions(abstain=90.0), "For 90% give 0.9"),
        (AnswerOptions(abstain=1.0), "up to but not including 1"),
        (AnswerOptions(coverage=0.0), "such as 0.9"),
        (AnswerOptions(by_class=True), "--by-class goes with --coverage"),
    ],
)
def test_answers_that_cannot_be_given(options, words):
    with pytest.raises(UsageError, match=words):
        options.check()
    AnswerOptions(0.5, True, 0.9, True).check()


def test_methods_by_name():
    assert methods_named("auto") == "auto" and methods_named(" LSSVM,sgt") == ["lssvm", "sgt"]
    with pytest.raises(UsageError, match="must be given alone"):
        methods_named("all,lssvm")
    with pytest.raises(UsageError, match="Did you mean lssvm"):
        methods_named("lsvm")
