"""Errors on data sets, next to other classifiers and other rules."""
