"""The table of the demo. It contains handwritten digits, of which a few are labeled."""

import numpy as np

from ..backend import need


def few_label_digits(seed=0, per_class=2):
    """(frame, truth) of scikit-learn's 1,797 digits, with `per_class` random labels per class in the frame.

    The columns are `image` (a name), 64 pixels, and `digit`, which is empty if the label is hidden. `truth` contains
    all labels as text.

    Examples
    --------
    >>> frame, truth = few_label_digits()
    >>> frame.shape, int((frame["digit"] != "").sum())
    ((1797, 66), 20)
    """
    from sklearn.datasets import load_digits

    digits = load_digits()
    truth = digits.target.astype(str)
    rng = np.random.default_rng(seed)
    shown = np.concatenate([rng.choice(np.flatnonzero(truth == d), per_class, replace=False) for d in np.unique(truth)])
    frame = need("pandas").DataFrame(
        digits.data.astype(int), columns=[f"pixel_{i // 8}_{i % 8}" for i in range(digits.data.shape[1])]
    )
    frame.insert(0, "image", [f"digit {i}" for i in range(1, len(truth) + 1)])
    frame["digit"] = np.where(np.isin(np.arange(len(truth)), shown), truth, "")
    return frame, truth
