"""Candidates of the few-label choice."""
