"""Models that other libraries store give the same predictions when they come back."""

import io

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVDD, Diffusion, FewLabelClassifier, KernelPCA, LSSVMClassifier, SemiKPCA


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.where(np.arange(150) % 6 == 0, y, -1)


def models():
    return [
        FewLabelClassifier(["lssvm", "diffusion", "forest"]),
        SemiKPCA(),
        LSSVMClassifier(kernel=Diffusion(n_neighbors=5)),
        SVDD(0.2),
        KernelPCA(2, kernel="rbf"),
        make_pipeline(StandardScaler(), LSSVMClassifier()),
    ]


def answer(model, X):
    return next(
        getattr(model, name)(X) for name in ("predict_proba", "score_samples", "transform") if hasattr(model, name)
    )


@pytest.mark.parametrize("model", models(), ids=repr)
def test_joblib(model, iris):
    X, y = iris
    model.fit(X, y)
    stored = io.BytesIO()
    joblib.dump(model, stored)
    stored.seek(0)
    np.testing.assert_array_equal(answer(joblib.load(stored), X + 0.1), answer(model, X + 0.1))


@pytest.mark.parametrize("model", models(), ids=repr)
def test_skops_with_its_types_looked_at(model, iris):
    skops = pytest.importorskip("skops.io")
    X, y = iris
    model.fit(X, y)
    stored = skops.dumps(model)
    types = skops.get_untrusted_types(data=stored)
    foreign = [name for name in types if not name.startswith(("mercer.", "sklearn.", "numpy.", "scipy."))]
    assert not foreign, "nothing but arrays and classes of these libraries"
    back = skops.loads(stored, trusted=types)
    np.testing.assert_allclose(answer(back, X + 0.1), answer(model, X + 0.1), atol=1e-12)


def test_mlflow_keeps_and_serves_a_model(iris, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    from examples.mlflow_model import MercerModel, saved

    monkeypatch.chdir(tmp_path)
    X, y = iris
    model = FewLabelClassifier(["lssvm"]).fit(X, y)
    folder = saved(model, tmp_path / "model", X[:3])
    back = mlflow.pyfunc.load_model(str(folder))
    found = back.predict(X[:20])
    assert found["label"].tolist() == model.predict(X[:20]).tolist()
    np.testing.assert_allclose(found.drop(columns="label").to_numpy(), model.predict_proba(X[:20]), atol=1e-12)
    assert (folder / "artifacts" / "model.mercer").exists() and issubclass(MercerModel, mlflow.pyfunc.PythonModel)
