"""A model in MLflow, stored as a .mercer file, which contains no code, and served by a small pyfunc class.

    python examples/mlflow_model.py

Needs mlflow-skinny or mlflow. `mlflow models serve -m FOLDER` serves labels and probabilities.
"""

import tempfile
from pathlib import Path

import mlflow
import numpy as np
import pandas as pd

import mercer


class MercerModel(mlflow.pyfunc.PythonModel):
    """Labels and class probabilities of rows, from a file that `mercer.save` wrote."""

    def load_context(self, context):
        """Read the model. Nothing in its file can run."""
        self.model = mercer.load(context.artifacts["model"])

    def predict(self, context, model_input, params=None):
        """A frame with the column "label" and one column for each class."""
        rows = np.asarray(model_input, dtype=float)
        P = pd.DataFrame(self.model.predict_proba(rows), columns=[str(name) for name in self.model.classes_])
        P.insert(0, "label", self.model.predict(rows))
        return P


def saved(model, folder, example):
    """Store a fitted classifier as an MLflow model in a new folder. Return the folder."""
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "model.mercer"
        mercer.save(model, file)
        mlflow.pyfunc.save_model(
            str(folder),
            python_model=MercerModel(),
            artifacts={"model": str(file)},
            input_example=np.asarray(example, dtype=float),
            pip_requirements=[f"mercer=={mercer.__version__}"],
        )
    return Path(folder)


def main():
    """Fit on the digits, store, load and ask."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    model = mercer.FewLabelClassifier(["lssvm", "diffusion"]).fit(X, np.where(np.arange(len(y)) % 30 == 0, y, -1))
    with tempfile.TemporaryDirectory() as place:
        folder = saved(model, Path(place) / "digits", X[:2])
        answers = mlflow.pyfunc.load_model(str(folder)).predict(X[:200])
        print(f"{np.mean(answers['label'] == y[:200]):.0%} of 200 predictions from the stored model are correct.")


if __name__ == "__main__":
    main()
