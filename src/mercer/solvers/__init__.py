"""Algorithms on arrays, without kernels, raw data and estimators."""
