"""Links between rows from a second table."""

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.inputs.links import link_matrix, read_links


def test_links_by_identifier():
    W, outside = link_matrix([7, 8, 9], ["7", 9.0, 8, 7, 5], ["8", 7, "8", "8", 8], [1, 2, 5, 0.5, 1])
    np.testing.assert_array_equal(W.toarray(), [[0, 1.5, 2], [1.5, 0, 0], [2, 0, 0]])
    assert outside == 1


def test_links_from_a_file(tmp_path):
    path = tmp_path / "links.csv"
    path.write_text("from,to,weight\na,b,2\nb,c,1\nz,a,1\n")
    W, outside = read_links(path, ["a", "b", "c"])
    np.testing.assert_array_equal(W.toarray(), [[0, 2, 0], [2, 0, 1], [0, 1, 0]])
    assert outside == 1
    path.write_text("from,to\na,b\n")
    assert read_links(path, ["a", "b", "c"])[0].nnz == 2
    path.write_text("from\na\n")
    with pytest.raises(InputError, match="Accepted: the two ends of a link"):
        read_links(path, ["a", "b"])


@pytest.mark.parametrize(
    "ids, links, message",
    [
        (["a", "a"], (["a"], ["a"]), "'a' belongs to several rows"),
        (["a", "b"], (["x"], ["y"]), "None of the 1 links joins two of the 2 rows"),
        (["a", "b"], (["a"], ["b", "a"]), "1 first ends and 2 second ends"),
        (["a", "b"], (["a"], ["b"], [-1]), "weights of the links"),
    ],
)
def test_bad_links_get_a_sentence(ids, links, message):
    with pytest.raises(InputError, match=message):
        link_matrix(ids, *links)
