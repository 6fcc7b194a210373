"""Texts on parameters that many classes, methods and functions have: (type, description) by name."""

CONSTRUCTOR = {
    "kernel": (
        "Kernel, str or callable",
        'A kernel object such as ``RBF("median")``, a name, or a function of two rows. "rbf" is `RBF` with the median '
        'distance between rows as its bandwidth. "precomputed": X is a kernel matrix.',
    ),
    "approx": (
        '"auto", "exact", int or FeatureMap',
        '"auto" is exact for small tables and uses landmarks for large ones. A number is the number of landmarks. See '
        "the page on approximation.",
    ),
    "missing_label": (
        '"auto", None, value or list of values',
        'Values in y that mean "not labeled". "auto": NaN, None, empty string and −1. If None, all values are classes.',
    ),
    "random_state": ("int, RandomState or None", "Seed. None means 0, so that results repeat."),
    "n_jobs": ("int or None", "Number of threads. None or −1 uses as many as the BLAS library may use."),
    "verbose": ("bool, int or callable", "Print progress, or call a function with (text, fraction done)."),
    "tol": ("float", "Tolerance at which the solver stops."),
    "max_iter": ("int", "Maximum number of iterations of the solver."),
    "n_init": ("int or None", "Number of starts of the solver, of which the best is kept. None starts as needed."),
    "center": ("bool", "Center the features, so that components are directions of largest variance."),
    "solver": (
        "str",
        'Solver of the eigenvalue problem: "full", "krylov", "lobpcg", "randomized" or "dual". "auto" picks one.',
    ),
    "graph": (
        "Kernel, matrix or None",
        "Graph for a penalty on differences between neighbors (the penalty of Laplacian RLS). None omits the penalty.",
    ),
    "graph_weight": ("float", "Weight of the penalty of `graph`."),
    "invariance": (
        "callable, array or None",
        "Directions along which the classifier should hardly change, such as `ImageShifts`. None omits the penalty.",
    ),
    "invariance_weight": ("float", "Weight of the penalty of `invariance`."),
    "label_folds": ("int or None", "Folds of the held-out predictions. None means one label at a time."),
    "contamination": ("float", "Fraction of the training rows below the threshold."),
    "label_weight": ("float", "Weight c of the loss on the labels."),
    "variance": ("float", "Variance of the scores over the training rows (s² / n in the paper)."),
    "n_removed": (
        '"constant" or int',
        "Part of the features that is removed before the fit. Either the constant function, or a number of components.",
    ),
    "gamma": ("str or float", "Weight of the errors in the formula above."),
    "search": ("str", "How labels are searched."),
    "bandwidth": (
        "float or str",
        'Length scale, or a rule for the training rows: "median" (distance between rows), "knn", "scale", "range", '
        '"neighbor" or "2neighbor". See the page on kernels.',
    ),
    "degree": ("float", "Degree of the polynomial, above 0."),
    "offset": ("float", "Constant that is added to the inner product."),
    "scale": ("float or None", "Factor of the inner product. None: 1 / number of columns."),
    "function": ("callable", "Function of two rows that returns a number, or of two matrices that returns a matrix."),
    "n_components": ("int", "Number of components."),
    "n_clusters": ("int", "Number of clusters."),
    "time_budget": ("float or None", "Seconds after which the search stops. None means no limit."),
}
# For methods and functions. Here a name may mean something else than in a constructor.
CALL = {
    "X": ("array-like of shape (n_samples, n_features)", "Rows."),
    "y": ("array-like of shape (n_samples,)", "Labels, with markers for rows without one (see `missing_label`)."),
    "sample_weight": ("array-like of shape (n_samples,)", "Weights. 2 counts a row twice. None means equal weights."),
    "groups": ("array-like of shape (n_samples,)", "Ignored."),
    "idx": ("array of int", "Numbers of rows."),
    "rows": ("int or array-like of shape (m,)", "Numbers of training rows."),
    "drawn": (
        "bool or array-like of shape (n_samples,)",
        "Which labeled rows were drawn at random. The accuracy is estimated from those alone.",
    ),
    "hints": ("column, dict or data frame of columns", "Guesses of the class for these rows by other sources."),
    "on_event": ("callable or None", "Function of an event of `mercer.events`, such as progress."),
    "grid": (
        'dict, "default" or None',
        'Lists of candidates by parameter name. "default" is the grid of the method, None tries those of the model.',
    ),
    "coverage": ("float", "Fraction of rows whose true value is in the set or interval."),
    "by_class": ("bool", "Reach the coverage in every class. Sets of rare classes grow."),
    "ax": ("matplotlib axes or None", "Axes to draw in. None makes a new figure."),
    "estimator": ("estimator", "A fitted model."),
    "model": ("estimator", "A fitted model."),
    "random_state": CONSTRUCTOR["random_state"],
    "max_iter": CONSTRUCTOR["max_iter"],
    "tol": CONSTRUCTOR["tol"],
    "n_components": CONSTRUCTOR["n_components"],
}
# In place of those of CALL, if the estimator has a kernel or if y may be omitted.
INSTEAD = {
    "kernel": {"X": ("array-like of shape (n_samples, n_features)", 'Rows. A kernel matrix if kernel="precomputed".')},
    "ignored": {"y": ("array-like or None", "Ignored, unless the text above gives it a meaning.")},
}
RETURNS = {
    "fit": "self : the fitted estimator.",
    "fit_predict": "array of shape (n_samples,) : the predictions for the training rows.",
    "fit_transform": "array of shape (n_samples, n_components) : the features of the training rows.",
    "predict": "array of shape (n_samples,) : the predictions.",
    "predict_proba": "array of shape (n_samples, n_classes) : the class probabilities.",
    "predict_log_proba": "array of shape (n_samples, n_classes) : the logarithms of the class probabilities.",
    "decision_function": "array of shape (n_samples,) or (n_samples, n_classes) : the scores.",
    "score_samples": "array of shape (n_samples,) : the scores. Higher is more normal.",
    "transform": "array of shape (n_samples, n_components) : the features of the rows.",
    "score": "float : the score, higher is better.",
}
