"""Fitted models that the tests of analysis share."""

import numpy as np
import pytest

from fdmvgcl import FDMVGCL, Graph


def blocks(features: bool = True, seed: int = 0) -> Graph:
    """Four groups of 30 nodes, denser inside, with features that are noisy signs of the group."""
    generator = np.random.default_rng(seed)
    groups = np.repeat(np.arange(4), 30)
    chance = np.where(groups[:, None] == groups, 0.3, 0.01)
    source, target = np.nonzero(np.triu(generator.random((120, 120)) < chance, 1))
    x = np.eye(4, 12)[groups] * 3 + generator.random((120, 12)) if features else None
    names = [f"n{i:03}" for i in range(120)]
    return Graph.from_edges([names[i] for i in source], [names[i] for i in target], nodes=names, features=x)


@pytest.fixture(scope="session")
def graph() -> Graph:
    return blocks()


@pytest.fixture(scope="session")
def plain() -> Graph:
    return blocks(features=False)


@pytest.fixture(scope="session")
def model(graph: Graph) -> FDMVGCL:
    return FDMVGCL(16, 3, 3, features="rows").fit(graph)


@pytest.fixture(scope="session")
def plain_model(plain: Graph) -> FDMVGCL:
    return FDMVGCL(64, 3, 3).fit(plain)
