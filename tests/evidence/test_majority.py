"""The majority prediction next to an accuracy."""

import numpy as np

from mercer import FewLabelClassifier
from mercer.evidence.accuracy import Majority
from mercer.evidence.choice import accuracy_interval


def test_share_interval_and_words():
    most = Majority.of(np.array(["a", "b", "c"]), np.array([3, 9, 4]))
    assert (most.name, most.share, (most.low, most.high)) == ("b", 9 / 16, accuracy_interval(9, 16))
    assert most.beaten_by(0.6)
    assert not most.beaten_by(0.5)
    assert "not shown to be better" in most.sentence(0.5)
    assert "not shown" not in most.sentence(0.6) + most.sentence()


def test_the_report_says_when_the_model_is_no_better():
    rng = np.random.default_rng(0)
    noise, codes = rng.normal(size=(60, 3)), np.where(np.arange(60) % 3, "yes", "no")
    y = np.where(np.arange(60) < 30, codes, "")
    said = str(FewLabelClassifier(["lssvm"]).fit(noise, y).report_)
    assert "Always predicting 'yes' would be correct for 67%" in said
    assert "The model is not shown to be better." in said
    clear = noise + 9.0 * (codes == "yes")[:, None]
    assert "not shown" not in str(FewLabelClassifier(["lssvm"]).fit(clear, y).report_)
