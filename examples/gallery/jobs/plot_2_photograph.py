"""
Image segmentation from twelve clicks
=====================================

Which part of a photograph is flower and which is background? Twelve squares of the picture are labeled by a click.
Every square is described by the mean and the spread of its three colors. **Insight:** 4,228 squares without a label
show how the two classes vary, so a dozen clicks give a mask.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from mercer import RBF, LeastSquaresKPCA

photo = load_sample_image("flower.jpg")[:424, :640] / 255
size = 8
squares = photo.reshape(424 // size, size, 640 // size, size, 3).swapaxes(1, 2)
height, width = squares.shape[:2]
colors = squares.reshape(height * width, size * size, 3)
X = np.column_stack([colors.mean(axis=1), colors.std(axis=1)])

# %%
# The clicks, as (row, column) of a square.

flower = [(25, 40), (20, 48), (30, 30), (36, 45), (14, 38), (28, 52)]
background = [(5, 5), (48, 10), (10, 70), (45, 72), (25, 8), (25, 70)]
y = np.full(len(X), -1)
for label, clicks in enumerate((background, flower)):
    y[[row * width + column for row, column in clicks]] = label
model = LeastSquaresKPCA(kernel=RBF("median"), approx=300).fit(X, y)
mask = model.predict_proba(X)[:, 1].reshape(height, width)

fig, axes = plt.subplots(1, 2, figsize=(8.4, 2.9), layout="constrained")
axes[0].imshow(photo)
for clicks, color in ((background, "w"), (flower, "k")):
    axes[0].scatter(*(np.array(clicks)[:, ::-1] * size + size / 2).T, c=color, edgecolors="0.5", s=30)
axes[1].imshow(mask, cmap="magma", vmin=0, vmax=1, extent=(0, 640, 424, 0))
for ax, title in zip(axes, ("twelve clicks", "probability of flower")):
    ax.set(title=title, xticks=[], yticks=[])
plt.show()
