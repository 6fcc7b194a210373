"""The table of the studio."""

import pandas as pd
import pytest

from mercer import InputError
from mercer.studio.table import TableRows


def test_numbers_to_predict_are_refused_with_what_to_do(tmp_path):
    frame = pd.DataFrame(
        {"size": [1.5, 2.5, 3.0, 4.25], "price": [10.5, 11.25, None, None], "kind": list("ab") + [""] * 2}
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(InputError, match="'price' holds numbers such as 10.5, and the studio is for classes"):
        TableRows(tmp_path / "t.csv", "price", {})
    assert TableRows(tmp_path / "t.csv", "kind", {}).labels.classes == ["a", "b"]
