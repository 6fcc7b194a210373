"""The table of the studio."""

import numpy as np
import pandas as pd

from mercer.studio.table import TableRows


def test_labels_are_numbers_or_classes_by_their_cells_or_by_request(tmp_path):
    frame = pd.DataFrame(
        {"size": [1.5, 2.5, 3.0, 4.25], "price": [10.5, 11.25, None, None], "kind": list("ab") + [""] * 2}
    )
    frame["one"], frame["none"] = ["7", None, None, None], None
    frame.to_csv(tmp_path / "t.csv", index=False)

    def labels(target, **options):
        return TableRows(tmp_path / "t.csv", target, options).labels

    assert labels("price").numbers[:2].tolist() == [10.5, 11.25]
    assert labels("price", kind=["price=class"]).classes == ["10.5", "11.25"] and labels("kind").classes == ["a", "b"]
    assert not labels("none").numeric and not labels("one").numeric
    assert np.isnan(labels("none", kind=["none=number"]).numbers).all()
    assert labels("one", kind=["one=number"]).numbers[0] == 7
