"""Time and memory, beside other libraries, other algorithms, or a stated limit."""
