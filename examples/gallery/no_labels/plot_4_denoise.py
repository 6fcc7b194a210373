"""
Denoising digits
================

Project noisy digits on kernel components learned from clean ones and go back to pixels. **Insight:** the pre-image of
a projection keeps what digits have in common. Noise is in none of the components.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer import RBF, KernelPCA

X = load_digits().data / 16.0
train, test = X[:1000], X[1000:1010]
noisy = test + np.random.default_rng(0).normal(scale=0.3, size=test.shape)
model = KernelPCA(60, kernel=RBF("median"), fit_inverse_transform=True, alpha=1e-3).fit(train)
clean = model.inverse_transform(model.transform(noisy))

fig, axes = plt.subplots(3, 10, figsize=(8.4, 2.8), layout="constrained")
for line, (rows, name) in zip(axes, ((test, "as it was"), (noisy, "with noise"), (clean, "projected"))):
    error = np.sqrt(np.mean((rows - test) ** 2))
    line[0].set_ylabel(f"{name}\nerror {error:.2f}", rotation=0, ha="right", va="center", fontsize=9)
    for ax, row in zip(line, rows):
        ax.imshow(row.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
plt.show()
