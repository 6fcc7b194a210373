"""The command `mercer`."""

import os
import signal
import sys
from typing import Any

stopped: list[int] = []  # exit codes of the signals that came, the first one first


def main():
    """Run the command line."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        # A terminal without the user's letters is not a reason to stop
        getattr(sys, name).reconfigure(errors="replace")
    sys.unraisablehook = lambda _: None  # errors while objects are deleted were reported before
    stopped.clear()

    def stop(number, frame: Any):  # as an exception, so that temporary files are removed
        stopped.append(128 + number)
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)

    signal.signal(signal.SIGTERM, stop)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # unless the caller ignores it
        signal.signal(signal.SIGINT, stop)
    try:
        from .app import app

        app(prog_name="mercer")
    except SystemExit as end:
        if stopped and end.code:  # pandas turns what stops it while it reads into an error of the file
            raise SystemExit(stopped[0]) from None
        raise
    except ImportError as error:
        if stopped:
            raise SystemExit(stopped[0]) from None
        raise SystemExit(
            f"mercer's command line needs the package {error.name!r}. Run pip install '.[cli]' in the folder of "
            "mercer's source."
        ) from None
    except KeyboardInterrupt:  # while modules are imported, or after the end of the output
        raise SystemExit(130) from None
