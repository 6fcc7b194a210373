"""Three examples of the gallery (a photograph, a machine, support tickets) in one picture, docs/img/three_jobs.png.

    python examples/three_jobs.py

Runs the examples themselves, so that the picture shows what they find.
"""

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from pictures import arguments, save

JOBS = Path(__file__).parent / "gallery" / "jobs"
BLUE, ORANGE = "#2563c9", "#d9590f"


def photograph(ax, found):
    """The clicks, and the line on which the mask is one half."""
    photo, mask, size = found["photo"], found["mask"], found["size"]
    ax.imshow(photo)
    centers = [(np.arange(n) + 0.5) * size for n in mask.shape[::-1]]
    ax.contour(*centers, mask, [0.5], colors="w", linewidths=1.5)
    for clicks, color in ((found["background"], "w"), (found["flower"], "k")):
        ax.scatter(*(np.array(clicks)[:, ::-1] * size + size / 2).T, c=color, edgecolors="0.5", s=30)
    ax.set_title(f"A mask from {len(found['flower'] + found['background'])} clicks")


def machine(ax, found):
    """What is normal, with the known faults."""
    X, y, fault = found["X"], found["y"], found["fault"]
    outside = found["detector"].predict(X) < 0
    ax.contourf(found["xx"], found["yy"], found["level"], [0, np.inf], colors=["#d6e1fa"])
    ax.contour(found["xx"], found["yy"], found["level"], [0], colors=BLUE)
    ax.scatter(*X[~fault].T, s=5, c="0.5", linewidths=0, label="normal")
    ax.scatter(*X[fault].T, s=14, c=ORANGE, linewidths=0, label="fault")
    ax.scatter(*X[y < 0].T, s=70, facecolors="none", edgecolors="k", label="known")
    ax.legend(loc="upper left", fontsize=8, handletextpad=0.2)
    others = fault & (y > 0)
    ax.set_title(f"{np.sum(y < 0)} known faults: {outside[others].sum()} of {others.sum()} others caught")


def tickets(ax, found):
    """Accuracy, and its estimate by the model."""
    right, said = found["right"], found["said"]
    ax.bar(["TF-IDF and logistic\nregression", "FewLabel-\nClassifier"], list(right.values()), color=["0.7", BLUE])
    bars = [[said.value - said.low], [said.high - said.value]]
    ax.errorbar(1, said.value, yerr=bars, color="k", capsize=4, fmt="o", label="its own estimate")
    for place, share in enumerate(right.values()):
        ax.text(place, share / 2, f"{share:.0%}", ha="center", color="w", weight="bold")
    ax.set(
        ylim=(0, 1),
        yticks=[0, 0.5, 1],
        title=f"{len(found['frame'])} tickets from {len(found['sorted_by_hand'])} labels",
    )
    ax.set_yticklabels(["0", "50%", "100%"])
    ax.legend(loc="lower left", fontsize=8)


if __name__ == "__main__":
    options = arguments(__doc__)
    shown = {"plot_2_photograph": photograph, "plot_3_machine_faults": machine, "plot_1_tickets": tickets}
    found = {name: runpy.run_path(str(JOBS / f"{name}.py")) for name in shown}
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.3), width_ratios=[1.3, 1.2, 1], layout="constrained")
    for ax, (name, draw) in zip(axes, shown.items()):
        draw(ax, found[name])
    for ax in axes[:2]:
        ax.set(xticks=[], yticks=[])
    save(figure, options.out / "three_jobs.png")
