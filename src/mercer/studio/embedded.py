"""The server behind `mercer.studio(frame)`: its own process, which ends with the Python that started it.

It reads one line of JSON with the session to serve, and prints one with the port and the key, or with an error. It runs
until its standard input is closed, which happens when the other process ends.
"""

import json
import sys
import threading


def main() -> None:
    """Serve until the standard input is closed."""
    from .process import Process

    process = Process()
    try:
        _serve(process, json.loads(sys.stdin.readline()))
    finally:
        process.end()


def _serve(process, asked):
    from ..backend import need
    from ..errors import BackendError, InputError
    from ..jobs.usage import UsageError
    from .folder import FolderInUse
    from .start import Served, listen, open_session

    try:
        uvicorn = need("uvicorn")
        need("starlette")
        session = open_session(
            asked["data"],
            asked["target"],
            asked["options"],
            asked["settings"],
            classes=asked["classes"],
            process=process,
            annotator=asked["annotator"],
        )
    except (InputError, BackendError, UsageError, ImportError) as error:
        print(json.dumps({"error": str(error), "taken": isinstance(error, FolderInUse)}), flush=True)
        return
    listening = listen(0, fixed=False)
    served = Served(session, listening, uvicorn, embedded=True)
    session.folder.tell(served.guard.url)
    print(json.dumps({"port": listening.getsockname()[1], "key": served.guard.key}), flush=True)

    def watch():
        sys.stdin.read()
        served.end_soon()

    threading.Thread(target=watch, daemon=True).start()
    served.run()


if __name__ == "__main__":
    main()
