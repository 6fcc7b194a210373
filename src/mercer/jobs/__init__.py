"""A table with labels, the classifier fitted to it, its answers and findings: what the command and the page share."""
