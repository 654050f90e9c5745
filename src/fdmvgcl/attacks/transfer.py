"""PRBCD on a surrogate, by PyTorch Geometric's own attack: what an attacker without the model can do."""

import warnings

import numpy as np
import torch
from numpy.typing import NDArray

from fdmvgcl.attacks.budget import check_budget
from fdmvgcl.attacks.objectives import Aim
from fdmvgcl.attacks.pairs import num_pairs, pairs_of, without_new_isolates
from fdmvgcl.attacks.perturbation import Perturbation
from fdmvgcl.attacks.surrogate import TrainedVictim
from fdmvgcl.attacks.victim import dense_features, edge_tensors
from fdmvgcl.graphs.graph import Graph

BLOCK, EPOCHS, RESAMPLED = 100_000, 125, 100


def transfer_prbcd(
    surrogate: TrainedVictim,
    graph: Graph,
    labels: NDArray[np.int64],
    nodes: NDArray[np.int64],
    budget: int,
    *,
    block: int = BLOCK,
    epochs: int = EPOCHS,
    seed: int = 0,
) -> Perturbation:
    """PRBCD (Geisler et al. 2021) against a surrogate's predictions at some nodes.

    Args:
        surrogate: a trained network; see :func:`~fdmvgcl.attacks.surrogate.train_supervised`.
        graph: the clean graph.
        labels: what the nodes should be, shape (N,): the true ones, or the surrogate's own.
        nodes: those whose prediction is to be changed.
        budget: flips of edges.
        block: pairs that are looked at at a time; more than the budget.
        epochs: steps; in the first four fifths the block is resampled.
        seed: of all draws; the global generator is left as it was.
    """
    check_budget("budget", budget, num_pairs(graph.num_nodes) // 2, "half of the pairs of nodes")
    if not budget:
        return Perturbation()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*contains experimental code.*")
        from torch_geometric.contrib.nn import PRBCDAttack

    aim = Aim.of(surrogate, labels, nodes)
    columns = torch.zeros(graph.num_nodes, dtype=torch.int64)
    columns[aim.nodes] = aim.columns
    attack = PRBCDAttack(
        surrogate.network,
        block_size=max(block, 4 * budget),
        epochs=epochs,
        epochs_resampling=epochs * RESAMPLED // EPOCHS,
        loss="tanh_margin",
        log=False,
    )
    attack.coeffs = dict(PRBCDAttack.coeffs)  # its options live on the class, where one attack would change the next
    with torch.random.fork_rng(devices=[]):  # it draws from the global generator
        torch.manual_seed(seed)
        _, flips = attack.attack(
            dense_features(graph), edge_tensors(graph)[0], columns, budget=budget, idx_attack=aim.nodes
        )
    return Perturbation(without_new_isolates(graph, pairs_of(map(tuple, flips.T.tolist()))))
