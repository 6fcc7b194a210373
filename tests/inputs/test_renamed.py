"""Columns that another table calls otherwise."""

import numpy as np
import pandas as pd
import pytest

from mercer.errors import InputError
from mercer.inputs.tables import TableEncoder
from mercer.inputs.tables.renamed import renamed


@pytest.mark.parametrize(
    ("absent", "free", "found"),
    [
        (["age"], ["Age"], {"age": "Age"}),
        (["living area"], ["LivingArea"], {"living area": "LivingArea"}),
        (["living area"], ["living_area_m2", "area"], {"living area": "living_area_m2"}),
        (["alcohol"], ["alcohl"], {"alcohol": "alcohl"}),
        (["x1", "x2"], ["x3", "x4"], {}),
        (["size", "sizes"], ["Size"], {"size": "Size"}),
        (["color"], ["price"], {}),
    ],
)
def test_names_that_are_nearly_the_same(absent, free, found):
    assert renamed(absent, free) == found


def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame({name: rng.normal(size=50) for name in ("alcohol", "ash", "malic acid", "hue")})


def test_a_table_with_a_renamed_column_is_warned_of_by_both_names():
    encoder = TableEncoder(scale=True).fit(table())
    other = table().rename(columns={"malic acid": "MalicAcid"})
    assert encoder.renamed(other) == {"malic acid": "MalicAcid"}
    with pytest.warns(UserWarning, match=r"'malic acid' \(did you mean 'MalicAcid'\?\) is not in this table"):
        encoder.transform(other)
    assert encoder.renamed(table()) == {} and encoder.missing(table()) == []


def test_a_table_with_most_columns_renamed_is_refused_with_their_names():
    encoder = TableEncoder(scale=True).fit(table())
    with pytest.raises(InputError, match="Did you mean 'ALCOHOL' for 'alcohol', 'ASH' for 'ash'"):
        encoder.transform(table().rename(columns=str.upper))
