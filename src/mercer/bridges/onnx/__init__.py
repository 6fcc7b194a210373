"""Fitted models as ONNX graphs, for runtimes without Python."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...errors import InputError
from .graph import Graph
from .models import answers


def to_onnx(model: Any, dtype: Any = np.float64) -> Any:
    """A fitted model as an ONNX model, whose outputs are named after the methods they equal.

    Parameters
    ----------
    model : a fitted estimator or map of this package, on rows of numbers.
    dtype : float64 or float32, of the input "X" and of the outputs. Inside all is computed in float64.

    Returns
    -------
    onnx.ModelProto
        With the input "X" (n, d) and the outputs that the model has: "predict", "predict_proba", "decision_function",
        "transform", "score_samples".

    Notes
    -----
    Graph methods become what they are for new rows: a weighted mean of neighbours, which the graph finds by comparing
    with every training row. Refused are models that read data frames, Python functions as kernels, and counts of a
    uniform window.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.LSSVMClassifier().fit([[0.0], [1.0], [0.2]], ["low", "high", None])
    >>> graph = mercer.to_onnx(model)  # doctest: +SKIP
    >>> session = onnxruntime.InferenceSession(graph.SerializeToString())  # doctest: +SKIP
    >>> session.run(["predict"], {"X": [[0.9]]})  # doctest: +SKIP
    [array(['high'], dtype=object)]
    """
    check_is_fitted(model)
    if getattr(model, "encoder_", None) is not None:
        raise InputError(
            f"This {type(model).__name__} reads a data frame with columns that are not numbers, and the graph takes "
            "numbers only. Fit it on the matrix TableEncoder().fit_transform(frame), and encode rows the same way."
        )
    if np.dtype(dtype) not in (np.float64, np.float32):
        raise InputError(f"dtype={dtype!r} is not accepted: give numpy.float64 or numpy.float32.")
    graph = Graph(model.n_features_in_, np.dtype(dtype))
    return graph.finish(answers(model, graph.X))
