"""One contender in a process of its own: `python -m benchmarks.scoreboard.worker CASE CONTENDER N`.

Sets itself up (data, imports, a small warm-up), states this, then makes one timed run for every line on standard input.
Answers are lines that begin with @@: JSON with seconds, peak bytes above what was there before, and the prediction's
value, by which contenders can be seen to have solved the same problem. kernlab.R speaks the same protocol.
"""

import contextlib
import ctypes
import json
import sys
import time
import warnings


def status(name):
    """Bytes of a line of /proc/self/status."""
    with open("/proc/self/status") as file:
        return 1024 * int(next(line for line in file if line.startswith(name)).split()[1])


def forget_peak():
    """Give freed memory back and make the present size the high-water mark."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass  # the mark then includes the set-up, for every contender alike


def say(**facts):
    print("@@" + json.dumps(facts), flush=True)


def main(case, contender, n):
    from .cases import CASES

    warnings.simplefilter("ignore")
    case = CASES[case]
    run, answer = case.contender(contender).make(case.data(int(n)))
    say(ready=True)
    for turn, _ in enumerate(sys.stdin):
        forget_peak()
        before, start = status("VmRSS"), time.perf_counter()
        found = run(turn)
        facts = {"seconds": time.perf_counter() - start, "peak_bytes": max(status("VmHWM") - before, 0)}
        if isinstance(found, tuple) and isinstance(found[-1], dict):  # it has timed itself
            facts |= found[-1]
        say(**facts, answer=float(answer(found)))
        del found


if __name__ == "__main__":
    main(*sys.argv[1:])
