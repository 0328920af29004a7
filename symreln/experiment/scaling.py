"""Pictures of representations: classical multidimensional scaling, turned alike over time.

Source: classical scaling is that of Torgerson (1952); turning one configuration onto another is
the orthogonal Procrustes problem. Pure numpy.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: Dimensions of a picture.
PLANE = 2


def classical_scaling(similarity: np.ndarray, dimensions: int = PLANE) -> np.ndarray:
    r"""Points whose distances are nearest to those of some vectors, from their products.

    :math:`J S J = Z Z^T` with :math:`J = 1 - \frac{1}{P} 1 1^T`: of the centred products the
    largest eigenvalues are kept.

    Args:
        similarity: S = Hᵀ H, symmetric, shape (P, P).
        dimensions: How many coordinates; fewer than P are there in any case.

    Returns:
        Shape (P, dimensions), centred; columns by falling spread. What rounding makes negative
        counts as zero.

    Example:
        >>> points = np.array([[0.0, 3.0], [4.0, 0.0], [0.0, 0.0]])
        >>> found = classical_scaling(points @ points.T)
        >>> round(float(np.linalg.norm(found[0] - found[1])), 12)
        5.0
    """
    centred = similarity - similarity.mean(axis=0)
    centred = centred - centred.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh((centred + centred.T) / 2)
    kept = slice(None, -dimensions - 1, -1)
    found = vectors[:, kept] * np.sqrt(np.maximum(values[kept], 0.0))
    missing = dimensions - found.shape[1]
    return np.pad(found, ((0, 0), (0, max(0, missing))))


def spread(similarity: np.ndarray) -> np.ndarray:
    """Summed squared distances of the vectors from their mean, over the last two axes."""
    samples = similarity.shape[-1]
    return np.trace(similarity, axis1=-2, axis2=-1) - similarity.sum(axis=(-2, -1)) / samples


def turned_onto(points: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Points rotated or reflected, never scaled, as near as possible to ``target``.

    Args:
        points: Shape (P, dimensions), centred.
        target: Shape (P, dimensions).
    """
    left, _, right = np.linalg.svd(points.T @ target)
    return points @ left @ right


def paths(similarities: Sequence[np.ndarray], onto: np.ndarray | None = None) -> np.ndarray:
    """Configurations over time, each turned onto the one after it, in all dimensions.

    From the end backwards: at first all points are one, and nothing tells directions. In all
    dimensions, because the plane that shows most can change at once; the first two coordinates
    are the picture, in the plane that shows most of the last configuration, or of ``onto``.

    Args:
        similarities: Shape (K, P, P), by time.
        onto: What the last configuration is turned onto, shape (P, P); nothing by default.

    Returns:
        Shape (K, P, P).
    """
    found: list[np.ndarray] = []
    for similarity in reversed(similarities):
        points = classical_scaling(similarity, len(similarity))
        target = found[-1] if found else onto
        found.append(points if target is None else turned_onto(points, target))
    return np.stack(found[::-1])


def shown_share(points: np.ndarray) -> float:
    """Share of the summed squared distances that a picture shows; 1 where there are none."""
    whole = float((points**2).sum())
    return float((points[:, :PLANE] ** 2).sum()) / whole if whole > 0 else 1.0
