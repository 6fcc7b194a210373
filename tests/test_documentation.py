"""The HTML of an estimator links to its page, if a site is known."""

import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import documentation


@pytest.mark.parametrize(
    "name", ["KernelPCA", "SemiKPCA", "SVDD", "FewLabelClassifier", "FewLabelRegressor", "LandmarkMap"]
)
def test_notebooks_link_to_the_page_of_the_estimator(name, monkeypatch):
    monkeypatch.setenv("MERCER_DOCS", "https://docs.example/mercer/")
    model = make_pipeline(StandardScaler(), getattr(mercer, name)())
    assert f'href="https://docs.example/mercer/api/{name}.html' in model._repr_html_()


def test_no_link_without_a_site_and_none_for_classes_of_others(monkeypatch, tmp_path):
    class Mine(mercer.KernelPCA):
        pass

    Mine.__module__ = "elsewhere"
    monkeypatch.setenv("MERCER_DOCS", "https://docs.example")
    assert "docs.example" not in Mine()._repr_html_()
    monkeypatch.delenv("MERCER_DOCS")
    monkeypatch.setattr(documentation, "__file__", str(tmp_path / "src" / "mercer" / "documentation.py"))
    monkeypatch.setattr(documentation, "metadata", lambda name: _Metadata())
    assert documentation.site() == "https://published.example/docs"
    (tmp_path / "build" / "docs" / "html").mkdir(parents=True)
    (tmp_path / "build" / "docs" / "html" / "index.html").touch()
    monkeypatch.setattr(documentation, "metadata", lambda name: _Metadata([]))
    assert documentation.site() == (tmp_path / "build" / "docs" / "html").as_uri()
    (tmp_path / "build" / "docs" / "html" / "index.html").unlink()
    assert documentation.site() == ""
    assert "documentation for KernelPCA" not in mercer.KernelPCA()._repr_html_()


class _Metadata:
    def __init__(self, urls=("Source, https://source.example", "Documentation, https://published.example/docs/")):
        self.urls = urls

    def get_all(self, name):
        return self.urls
