"""Fitted models as ONNX graphs, for runtimes without Python."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from sklearn.utils.validation import check_is_fitted

from ...errors import InputError
from ...few_label.kernel_rows import KernelRows
from ...inputs.tables import TableClassifier, TableRegressor
from ...types import Estimator
from .graph import Graph
from .models import answers
from .tables import rows_of


def to_onnx(model: Estimator, dtype: DTypeLike = np.float64) -> Any:
    """A fitted model as an ONNX model, whose outputs are named after the methods they equal.

    Parameters
    ----------
    model : a fitted estimator or map of this package, or what `mercer label --save` wrote and `mercer.load` read.
    dtype : float64 or float32, of numbers in and out. Inside all is computed in float64.

    Returns
    -------
    onnx.ModelProto
        With the input "X" (n, d) and the outputs that the model has: "predict", "predict_proba", "decision_function",
        "transform", "score_samples". A model that was fitted to a data frame of several kinds of columns has an input
        (n, 1) of the name of each column that is used: numbers with NaN for gaps, or text, without spaces around it,
        with "" for gaps.

    Notes
    -----
    Graph methods become what they are for new rows: a weighted mean of neighbors, which the graph finds by comparing
    with every training row. Refused are Python functions as kernels, counts of a uniform window, and data frames with
    columns of text (more than one word), dates, images or lists.

    Examples
    --------
    >>> import mercer
    >>> model = mercer.LSSVMClassifier().fit([[0.0], [1.0], [0.2]], ["low", "high", None])
    >>> graph = mercer.to_onnx(model)  # doctest: +SKIP
    >>> session = onnxruntime.InferenceSession(graph.SerializeToString())  # doctest: +SKIP
    >>> session.run(["predict"], {"X": [[0.9]]})  # doctest: +SKIP
    [array(['high'], dtype=object)]
    """
    if np.dtype(dtype) not in (np.float64, np.float32):
        raise InputError(f"dtype={dtype!r} is not accepted: give numpy.float64 or numpy.float32.")
    graph = Graph(np.dtype(dtype))
    if isinstance(model, TableClassifier | TableRegressor):
        model, encoder = model.regressor if model.numeric else model.classifier, model.encoder
    else:
        check_is_fitted(model)
        encoder = getattr(model, "encoder_", None)
    if isinstance(encoder, KernelRows):
        raise InputError(
            f"The model was fitted with kernel={encoder.kernel!r}, which has no form in ONNX. Fit on rows of numbers."
        )
    rows = graph.input("X", width=model.n_features_in_) if encoder is None else rows_of(encoder, graph)
    return graph.finish(answers(model, rows))
