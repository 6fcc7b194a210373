"""Clusters of rows on a GPU. One pass over the rows moves each to its nearest center and adds up the new centers."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..backend import memory_available, need
from ..types import Array

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor


class Moved(NamedTuple):
    """The clusters after every row has moved to its nearest center, and the objective of the old ones."""

    labels: "Tensor"  # of the new clusters, on the device
    sums: "Tensor"  # Σ w z per new cluster, on the device
    mass: Array  # Σ w per new cluster
    rows: Array  # number of rows of positive weight per new cluster
    moved: int  # rows that changed their cluster
    objective: float  # of the old clusters
    least: "Tensor"  # squared distance of each row to the old position of its new center, on the device


class RowClusters:
    """Rows z with their k(x, x) and weights. Labels, distances and sums stay on the device. Numbers go to the host.

    Products are in float64, whatever the type of the rows.
    """

    entries = 2**27  # of a block of rows in float64, which is 1 GB

    def __init__(self, Z: "Tensor", linear: Array, weight: Array) -> None:
        torch = need("torch")
        self.Z = Z
        copies = 8 * 8 * Z.numel() <= (memory_available(Z.device) or 0)
        self.wide = Z.double() if copies else None  # once, rather than in every iteration
        self.linear = torch.as_tensor(linear, device=Z.device)
        self.weight = torch.as_tensor(weight, device=Z.device)

    def place(self, labels: Array) -> "Tensor":
        """Labels on the device."""
        torch = need("torch")
        return torch.as_tensor(labels, dtype=torch.int64, device=self.Z.device)

    def distances(self, groups: list[Array]) -> "Iterator[Tensor]":
        """For each group of rows (n, rows of the group) squared distances to them, on the device."""
        torch = need("torch")
        for group in groups:
            others = self.Z[torch.as_tensor(group, device=self.Z.device)].double()
            found = self.linear.new_empty((len(self.Z), len(group)))
            for rows in self._blocks(len(group)):
                torch.addmm(others.square().sum(1), self._double(rows), others.T, alpha=-2.0, out=found[rows])
            yield found.add_(self.linear[:, None]).clamp_(min=0)

    def sums(self, labels: "Tensor", n_clusters: int) -> "tuple[Tensor, Array]":
        """(Σ w z, Σ w) of each cluster."""
        sums, mass = self._zeros(n_clusters, self.Z.shape[1]), self._zeros(n_clusters)
        for rows in self._blocks(n_clusters):
            members = self._members(labels[rows], rows, n_clusters)
            sums += members.T @ self._double(rows)
            mass += members.sum(0)
        return sums, mass.cpu().numpy()

    def move(self, labels: "Tensor", sums: "Tensor", mass: Array, slack: float) -> tuple[Moved, Array]:
        """One iteration, and ‖m‖² of the old centers. A row moves for a gain of more than `slack`."""
        torch = need("torch")
        weights = torch.as_tensor(mass, device=sums.device)
        centers = sums / weights.where(weights > 0, 1.0)[:, None]
        center_sq = centers.square().sum(1)
        offset = center_sq.where(weights > 0, float("inf"))  # no row is near a center that does not exist
        new, least = torch.empty_like(labels), torch.empty_like(self.linear)
        next_sums, numbers = torch.zeros_like(sums), self._zeros(2 * len(mass) + 2)
        for rows in self._blocks(len(mass)):
            block, old = self._double(rows), labels[rows, None]
            distance = torch.addmm(offset, block, centers.T, alpha=-2.0)
            own = distance.gather(1, old)
            near, label = distance.min(1, keepdim=True)
            stays = own - near <= slack
            label, near = label.where(~stays, old), near.where(~stays, own)
            own = own.where(own < float("inf"), near)  # only a row of weight 0 can be in a cluster without mass
            members = self._members(label[:, 0], rows, len(mass))
            next_sums += members.T @ block
            cost = (self.linear[rows] + own[:, 0]).clamp_(min=0) * self.weight[rows]
            parts = members.sum(0), (members > 0).sum(0), (~stays).sum()[None], cost.sum()[None]
            numbers += torch.cat([part.double() for part in parts])
            new[rows], least[rows] = label[:, 0], self.linear[rows] + near[:, 0]
        *both, moved, objective = np.split(numbers.cpu().numpy(), [len(mass), 2 * len(mass), 2 * len(mass) + 1])
        step = Moved(new, next_sums, both[0], both[1], int(moved[0]), float(objective[0]), least)
        return step, center_sq.cpu().numpy()

    def _members(self, labels: "Tensor", rows: slice, n_clusters: int) -> "Tensor":
        """(rows, clusters) the weight of a row in its own cluster, 0 elsewhere."""
        weight = self.weight[rows, None]
        return weight.new_zeros((len(labels), n_clusters)).scatter_(1, labels[:, None], weight)

    def _double(self, rows: slice) -> "Tensor":
        """Rows in float64."""
        return self.Z[rows].double() if self.wide is None else self.wide[rows]

    def _blocks(self, n_columns: int = 1) -> list[slice]:
        """The rows in blocks, so that neither their features nor `n_columns` more columns pass the limit."""
        n, width = self.Z.shape
        step = max(1, self.entries // max(width, n_columns))
        return [slice(begin, begin + step) for begin in range(0, n, step)]

    def _zeros(self, *shape: int) -> "Tensor":
        return self.linear.new_zeros(shape)
