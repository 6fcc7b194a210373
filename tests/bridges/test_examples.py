"""Examples that run another library's part."""

from examples.out_of_distribution import main


def test_detectors_on_embeddings_know_strange_digits(capsys):
    found = main()
    assert "KPCANovelty" in capsys.readouterr().out
    for name in ("SVDD", "KPCANovelty", "KernelDensityNovelty"):
        assert found[name][0] > 0.9, name
    assert max(found, key=lambda name: found[name][0]) != "largest probability"
