"""`mercer studio`: the page where labels are made, and the server behind it."""
