"""Algorithms on arrays: no kernel, no raw data and no estimator comes in here."""
