"""Megabytes, texts and images per second on one core of the installed models, and 5,000 tickets from table to report.

    python -m benchmarks.speed.sentences [--quick]

The tickets are made up, of 24 words each. `mercer label` runs in its own process, with one thread, with an empty cache
and again with a full one. Seconds are those of the processor, so other programs that run at the same time change them
little.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.harness import arguments, thread_variables

SUBJECTS = "invoice refund password account delivery parcel login payment contract charger screen update"
WORDS = (
    "please help me with the last order it was not what we expected and my colleague asked about this again because "
    "nobody answered our question since monday so could you tell us when the problem will be solved thank you"
)


def main():
    """Measure and print."""
    options = arguments(__doc__)
    os.environ.update(thread_variables(1))
    import numpy as np

    from mercer.inputs.models.images import image_model
    from mercer.inputs.models.texts import CARRIERS, text_model

    rng = np.random.default_rng(0)
    tickets = [ticket(rng) for _ in range(200 if options.quick else 5000)]
    print("| model | MB | per second on one core |\n|---|---|---|")
    for name in CARRIERS:
        try:
            model = text_model(name)
        except ValueError as error:
            print(f"| {name} | | {error} |")
            continue
        per_second = rate(model.encode, [text for text, _ in tickets[:200]])
        print(f"| {name} | {size_of(model):.0f} | {per_second:.0f} texts |")
    network = image_model("auto")
    if network is not None:
        from PIL import Image

        images = [Image.fromarray(rng.integers(0, 255, (300, 400, 3), dtype=np.uint8)) for _ in range(20)]
        network.encode(images[:1])  # compiled once
        print(f"| {network.name} | {size_of(network):.0f} | {rate(network.encode, images):.0f} images |")
    with tempfile.TemporaryDirectory() as folder:
        lines = ["text,team"]
        lines += [f"{text},{team if i < 100 else ''}" for i, (text, team) in enumerate(tickets)]
        (Path(folder) / "tickets.csv").write_text("\n".join(lines))
        command = [
            sys.executable,
            "-m",
            "mercer",
            "label",
            "tickets.csv",
            "-t",
            "team",
            "--report",
            "r.html",
            "--force",
        ]
        for cache in ("empty", "full"):
            begun = seconds_of_children()
            subprocess.run([*command, "-q"], cwd=folder, check=True)
            seconds = seconds_of_children() - begun
            print(f"\n{len(tickets)} tickets from table to report, {cache} cache: {seconds:.0f} s")


def seconds_of_children():
    """Seconds of the processor that all programs started here took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ticket(rng):
    """(text, team)."""
    subjects = SUBJECTS.split()
    place = int(rng.integers(len(subjects)))
    words = [*rng.choice(WORDS.split(), 22), subjects[place], subjects[place + 1 - 2 * (place % 2)]]
    rng.shuffle(words)
    return " ".join(words), f"team {place // 4}"


def size_of(model):
    """Megabytes of the arrays of a model."""
    import numpy as np

    def held(value):
        if isinstance(value, np.ndarray):
            return value.nbytes
        if isinstance(value, dict):
            return sum(map(held, value.values()))
        return sum(map(held, value)) if isinstance(value, list | tuple) else 0

    return sum(map(held, vars(model).values())) / 1e6


def rate(function, inputs):
    """How many per second, the best of three runs."""
    times = []
    for _ in range(3):
        begun = time.process_time()
        function(inputs)
        times.append(time.process_time() - begun)
    return len(inputs) / min(times)


if __name__ == "__main__":
    main()
