"""Time and memory, next to other libraries, other algorithms, or a stated limit."""
