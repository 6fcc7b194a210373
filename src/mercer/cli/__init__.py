"""The command `mercer`."""

import os
import signal
import sys


def main():
    """Run the command line."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        getattr(sys, name).reconfigure(errors="replace")  # a terminal without the user's letters is no reason to stop
    sys.unraisablehook = lambda _: None  # what goes wrong while objects are cleared away was said before, in a sentence
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as an exception, so that temporary files are removed
    try:
        from .app import app

        app(prog_name="mercer")
    except ImportError as error:
        raise SystemExit(
            f"mercer's command line needs the package {error.name!r}. Install it with: pip install 'mercer[cli]'"
        ) from None
    except KeyboardInterrupt:  # while modules are imported, or after the last word was said
        raise SystemExit(130) from None
