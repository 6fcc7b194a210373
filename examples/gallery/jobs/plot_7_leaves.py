"""
Leaf species from features of their pictures
============================================

Three pictures of each species of leaf have a name, of four hundred in all. A picture is described by the distance of
the leaf's edge from its middle in every direction. The amplitudes of its Fourier transform do not change when the
leaf is turned. **Insight:** twelve names are enough if the features omit what does not matter. The few wrong
predictions have a low confidence.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import FewLabelClassifier

# %%
# Pictures of 40 × 40 pixels with an outline for each species, turned, stretched, nibbled at and seen through noise.

SPECIES = {
    "maple": lambda t: 0.55 + 0.3 * np.abs(np.cos(2.5 * t)) ** 0.7,
    "oak": lambda t: 0.6 + 0.12 * np.cos(7 * t) + 0.15 * np.cos(2 * t),
    "willow": lambda t: 0.3 / np.sqrt(1 - 0.9 * np.cos(t) ** 2),
    "beech": lambda t: 0.55 / np.sqrt(1 - 0.55 * np.cos(t) ** 2),
}
rng = np.random.default_rng(0)
side = np.linspace(-1, 1, 40)
x, y = np.meshgrid(side, side)
angle, radius = np.arctan2(y, x), np.hypot(x, y)
species = rng.choice(list(SPECIES), 400)
pictures = []
for name in species:
    turned = angle + rng.uniform(0, 2 * np.pi)
    bent = 0.09 * np.cos(turned * rng.integers(1, 4) + rng.uniform(0, 2 * np.pi))
    nibbles = 0.07 * np.cos(turned * rng.integers(8, 14) + rng.uniform(0, 2 * np.pi))
    edge = SPECIES[name](turned) * rng.uniform(0.8, 1.1) + bent + nibbles
    pictures.append((radius < edge) + rng.normal(scale=0.15, size=radius.shape))
pictures = np.array(pictures)

# %%
# Features are the radius of the leaf in each of 64 directions, and the amplitudes of that profile.

direction = ((angle + np.pi) / (2 * np.pi) * 64).astype(int) % 64
dark = pictures > 0.5
profile = np.array([(dark & (direction == d)).sum(axis=(1, 2)) / (direction == d).sum() for d in range(64)]).T
amplitudes = np.abs(np.fft.rfft(np.sqrt(profile), axis=1))[:, :16]
X = amplitudes[:, 1:] / amplitudes[:, :1]

named = np.concatenate([np.flatnonzero(species == name)[:3] for name in SPECIES])
labels = np.full(len(X), "", dtype=object)
labels[named] = species[named]
model = FewLabelClassifier(time_budget=20).fit(X, labels)
hidden = np.setdiff1d(np.arange(len(X)), named)
answer, sure = model.transduction_[hidden], model.confidence_[hidden]
right = answer == species[hidden]

fig, axes = plt.subplots(4, 15, figsize=(9, 3.1), layout="constrained")
colors = dict(zip(SPECIES, ("#d9590f", "#2563c9", "#2a9d5c", "#8a4fbf")))
shown = np.concatenate([hidden[np.argsort(sure)[:15]], hidden[np.argsort(-sure)[::8][:45]]])
for ax, row in zip(axes.ravel(), shown):
    found, true = model.transduction_[row], species[row]
    shade = np.array([int(colors[found][i : i + 2], 16) / 255 for i in (1, 3, 5)])
    ax.imshow(1 - dark[row][..., None] * (1 - shade))
    ax.set(xticks=[], yticks=[])
    for edge in ax.spines.values():
        edge.set(color="k" if found != true else "0.9", linewidth=2.5 if found != true else 0.5)
handles = [plt.Line2D([], [], color=color, marker="o", linestyle="", label=name) for name, color in colors.items()]
fig.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
fig.suptitle(
    f"{len(named)} of {len(X)} leaves named, {right.mean():.0%} of the others correct\n"
    "first row with the lowest confidence, frame if wrong"
)
plt.show()
