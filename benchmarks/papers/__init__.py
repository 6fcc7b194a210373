"""Published tables and figures computed again, with the differences."""
