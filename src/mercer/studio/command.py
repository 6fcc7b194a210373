"""`mercer studio`, before anything heavy is imported."""

from typing import Any

from .process import Process


def studio(screen: Any, *data: Any, **options: object) -> None:
    """Serve the page. Returns when the user ends it. The arguments are those of `start.serve`."""
    process = Process()
    try:
        from .start import serve

        serve(screen, process, *data, **options)
    finally:
        process.end()
