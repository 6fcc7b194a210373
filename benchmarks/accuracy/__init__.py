"""Errors on data sets, beside other classifiers and other rules."""
