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
from .models import outputs
from .tables import rows_of


def to_onnx(model: Estimator, dtype: DTypeLike = np.float64) -> Any:
    """A fitted model as an ONNX model, whose outputs are named after the methods they equal.

    Parameters
    ----------
    model : estimator or FeatureMap
        A fitted estimator or map of this package, or a model that `mercer label --save` saved and `mercer.load` loaded.
    dtype : dtype, default=numpy.float64
        float64 or float32 for inputs and outputs. Computations are in float64.

    Returns
    -------
    onnx.ModelProto
        A model with the input "X" (n, d) and one output per method of the estimator, among "predict", "predict_proba",
        "decision_function", "transform" and "score_samples". A model that was fitted to a data frame of several kinds
        of columns has an input (n, 1) for each column that is used, with its name. Inputs of numbers have NaN for
        missing values. Inputs of text have "" for missing values, and no spaces around the text.

    Notes
    -----
    Methods on graphs become weighted means of neighbors, which the model finds by a comparison with every training row.
    Python functions as kernels, counts of a uniform window, and data frames with columns of text (more than one word),
    dates, images or lists are not supported.

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
        raise InputError(f"dtype={dtype!r} is not accepted. Use numpy.float64 or numpy.float32.")
    graph = Graph(np.dtype(dtype))
    if isinstance(model, TableClassifier | TableRegressor):
        model, encoder = model.regressor if model.numeric else model.classifier, model.encoder
    else:
        check_is_fitted(model)
        encoder = getattr(model, "encoder_", None)
    if isinstance(encoder, KernelRows):
        raise InputError(
            f"The model was fitted with kernel={encoder.kernel!r}, which cannot be exported to ONNX. Fit on rows of "
            "numbers."
        )
    rows = graph.input("X", width=model.n_features_in_) if encoder is None else rows_of(encoder, graph)
    return graph.finish(outputs(model, rows))
