"""`python -m mercer` is the command `mercer`."""

from .cli import main

if __name__ == "__main__":
    main()
