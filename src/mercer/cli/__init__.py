"""The command `mercer`."""


def main():
    """Run the command line."""
    try:
        from .app import app
    except ImportError as error:
        raise SystemExit(
            f"mercer's command line needs the package {error.name!r}. Install it with: pip install 'mercer[cli]'"
        ) from None
    app(prog_name="mercer")
