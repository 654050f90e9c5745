"""Each right-hand side against the dense formula, its known reductions, and its gradients."""

import math
from collections.abc import Callable
from functools import partial

import pytest
import torch
from torch import Tensor

from fdmvgcl.dynamics import (
    DYNAMICS,
    Cde,
    Dynamics,
    Grand,
    GrandAttention,
    GraphCON,
    Gread,
    describe_dynamics,
    make_dynamics,
    propagate,
)
from fdmvgcl.dynamics.edges import convect, edge_dots, edge_softmax, edge_sum, entries
from fdmvgcl.graphs.operators import Operator

NODES, DIM = 9, 3
ZERO = torch.zeros((), dtype=torch.float64)


def make_operator(
    normalisation: str = "sym", self_loops: float = 0.0, *, directed: bool = False, nodes: int = NODES
) -> Operator:
    """Weighted edges, and a last node that has none."""
    generator = torch.Generator().manual_seed(0)
    upper = torch.triu(torch.rand(nodes - 1, nodes - 1, generator=generator, dtype=torch.float64), 1)
    upper = upper * (torch.rand(upper.shape, generator=generator) < 0.6)
    dense = upper if directed else upper + upper.T
    index = dense.nonzero().T
    return Operator.from_edges(
        index,
        dense[tuple(index)],
        nodes,
        normalisation=normalisation,  # type: ignore[arg-type]
        self_loops=self_loops,
        directed=directed,
    )


OPERATORS = [make_operator(), make_operator("rw", 1.0), make_operator("rw", directed=True)]


def make_state(dim: int = DIM, nodes: int = NODES, *, scale: float = 1.0) -> Tensor:
    return scale * torch.randn(nodes, dim, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def make(factory: Callable[..., Dynamics], dim: int = DIM) -> Dynamics:
    return factory(dim, torch.Generator().manual_seed(2)).double()


def on_pattern(operator: Operator, values: Tensor) -> Tensor:
    dense = torch.zeros(operator.num_nodes, operator.num_nodes, dtype=values.dtype)
    return dense.index_put((operator.entry_rows, operator.columns), values)


class TestEdges:
    @pytest.mark.parametrize("operator", OPERATORS)
    @pytest.mark.parametrize("dim", [3, 16])  # 16: the compiled kernel
    def test_products_are_those_of_the_dense_matrices(self, operator: Operator, dim: int) -> None:
        y, other = make_state(dim), make_state(dim).flip(0)
        assert torch.allclose(propagate(operator, y), operator.dense() @ y, atol=1e-14)
        assert torch.allclose(on_pattern(operator, entries(operator)), operator.dense(), atol=1e-14)
        weights = torch.linspace(-1, 1, operator.nnz, dtype=torch.float64)
        assert torch.allclose(edge_sum(operator, weights, y), on_pattern(operator, weights) @ y, atol=1e-14)
        dots = (y @ other.T)[operator.entry_rows, operator.columns]
        assert torch.allclose(edge_dots(operator, y, other), dots, atol=1e-13)

    @pytest.mark.parametrize("operator", OPERATORS)
    def test_convection_is_the_sum_over_edges(self, operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
        y, potential = make_state(), make_state().flip(0)
        weights = torch.linspace(-1, 1, operator.nnz, dtype=torch.float64)
        velocity = torch.tanh(potential[None] - potential[:, None])
        expected = torch.einsum("ij,ijd,jd->id", on_pattern(operator, weights), velocity, y)
        for chunk in (1 << 19, 5 * DIM):
            monkeypatch.setattr("fdmvgcl.dynamics.edges._CHUNK", chunk)
            assert torch.allclose(convect(operator, weights, potential, y), expected, atol=1e-14)

    def test_softmax_survives_large_scores(self) -> None:
        operator = OPERATORS[1]
        scores = 1e4 * torch.linspace(-1, 1, operator.nnz, dtype=torch.float64)
        soft = edge_softmax(operator, scores, entries(operator))
        assert torch.allclose(on_pattern(operator, soft).sum(1), torch.ones(NODES, dtype=torch.float64))

    @pytest.mark.parametrize("operator", OPERATORS)
    def test_gradients(self, operator: Operator) -> None:
        y, other = (make_state().requires_grad_(), make_state().flip(0).requires_grad_())
        weights = torch.linspace(0.1, 1, operator.nnz, dtype=torch.float64).requires_grad_()
        check = partial(torch.autograd.gradcheck, atol=1e-7)
        assert check(lambda y: propagate(operator, y), (y,))
        assert check(lambda w, y: edge_sum(operator, w, y), (weights, y))
        assert check(lambda a, b: edge_dots(operator, a, b), (y, other))
        assert check(lambda s: edge_softmax(operator, s, entries(operator)), (weights,))
        assert check(lambda w, u, y: convect(operator, w, u, y), (weights, other, y))


class TestGrand:
    def test_equal_scores_are_the_random_walk(self) -> None:
        operator = make_operator("rw", 1.0)
        attention = make(GrandAttention)
        torch.nn.init.zeros_(attention.query)
        assert torch.allclose(attention(ZERO, make_state(), operator), make(Grand)(ZERO, make_state(), operator))

    def test_attention_is_the_softmax_of_scaled_products(self) -> None:
        operator, y = make_operator("rw", 1.0), make_state()
        attention = make(partial(GrandAttention, hidden=4, heads=1))
        scores = (y @ attention.query[0]) @ (y @ attention.key[0]).T / math.sqrt(4)
        expected = torch.softmax(scores + operator.dense().log(), 1)
        assert torch.allclose(on_pattern(operator, attention.attention(y, operator)), expected)
        assert torch.allclose(attention(ZERO, y, operator), expected @ y - y)

    def test_heads_are_averaged(self) -> None:
        operator, y = make_operator("rw", 1.0), make_state()
        both = make(partial(GrandAttention, heads=2))
        parts = []
        for head in (0, 1):
            part = make(partial(GrandAttention, heads=1))
            part.query.data, part.key.data = both.query.data[head : head + 1], both.key.data[head : head + 1]
            parts.append(part(ZERO, y, operator))
        assert not torch.allclose(*parts)
        assert torch.allclose(both(ZERO, y, operator), sum(parts) / 2)

    def test_diffusion_conserves_what_it_should(self) -> None:
        """The walk keeps the degree-weighted mean, the symmetric operator the component along √degree."""
        y = make_state()
        walk, symmetric = make_operator("rw"), make_operator()
        root = walk.similarity
        assert torch.allclose(root.square() @ make(Grand)(ZERO, y, walk), torch.zeros(DIM).double(), atol=1e-13)
        assert torch.allclose(root @ make(Grand)(ZERO, y, symmetric), torch.zeros(DIM).double(), atol=1e-13)

    def test_a_node_without_edges_keeps_its_features(self) -> None:
        for factory in (Grand, GrandAttention, Cde):
            moved = make(factory)(ZERO, make_state(), make_operator("rw", 1.0))
            assert torch.allclose(moved[-1], torch.zeros(DIM).double(), atol=1e-14)


class TestGread:
    @pytest.mark.parametrize("reaction", ["bs", "fisher", "allen-cahn", "zeldovich"])
    def test_without_reaction_it_is_diffusion(self, reaction: str) -> None:
        gread = make(partial(Gread, reaction=reaction))
        torch.nn.init.constant_(gread.diffusion_logit, torch.inf)
        torch.nn.init.constant_(gread.reaction_logit, -torch.inf)
        operator, y = make_operator(), make_state()
        assert torch.equal(gread(ZERO, y, operator), -(y - propagate(operator, y)))

    @pytest.mark.parametrize(
        ("reaction", "value"),
        [
            ("bs", lambda y, a: a @ (y - a @ y)),
            ("fisher", lambda y, a: y * (1 - y)),
            ("allen-cahn", lambda y, a: y - y**3),
            ("zeldovich", lambda y, a: y**2 - y**3),
        ],
    )
    def test_reactions(self, reaction: str, value: Callable[[Tensor, Tensor], Tensor]) -> None:
        operator, y = make_operator(), make_state().abs()
        dense = operator.dense()
        expected = 0.5 * value(y, dense) - 0.5 * (y - dense @ y)
        assert torch.allclose(make(partial(Gread, reaction=reaction))(ZERO, y, operator), expected)

    @pytest.mark.parametrize("reaction", ["fisher", "allen-cahn"])
    def test_no_feature_runs_away(self, reaction: str) -> None:
        """Beyond ±1 the reaction points back, from either side."""
        gread, alone = make(partial(Gread, reaction=reaction)), make_operator(nodes=2)
        far = torch.tensor([[1.5, -1.5], [3.0, -3.0]], dtype=torch.float64)
        assert (gread(ZERO, far, alone).sign() == -far.sign()).all()

    def test_unknown_reactions_are_refused(self) -> None:
        with pytest.raises(ValueError, match="reaction must be one of bs, fisher, allen-cahn, zeldovich, got 'burn'"):
            make(partial(Gread, reaction="burn"))


def test_cde_without_velocity_is_diffusion_and_with_it_the_formula() -> None:
    cde, operator, y = make(Cde), make_operator("rw"), make_state()
    dense = operator.dense()
    velocity = torch.tanh((y[None] - y[:, None]) @ cde.velocity)
    convection = torch.einsum("ij,ijd,jd->id", dense, velocity, y)
    assert torch.allclose(cde(ZERO, y, operator), dense @ y - y + convection)
    torch.nn.init.zeros_(cde.velocity)
    assert torch.allclose(cde(ZERO, y, operator), make(Grand)(ZERO, y, operator))


def test_graphcon_is_the_system_of_the_appendix() -> None:
    graphcon, operator, y = make(partial(GraphCON, gamma=0.7, nu=0.3)), make_operator(), make_state()
    torch.nn.init.normal_(graphcon.weight, generator=torch.Generator().manual_seed(3))
    state = torch.stack([y, y.flip(0)])
    change = graphcon(ZERO, state, operator)
    assert torch.equal(change[0], y.flip(0))
    assert torch.allclose(change[1], torch.tanh(operator.dense() @ y @ graphcon.weight) - 0.7 * y - 0.3 * y.flip(0))
    assert torch.equal(graphcon.start(y), torch.stack([y, y]))
    assert torch.equal(graphcon.readout(state), y)


@pytest.mark.parametrize("name", sorted(set(DYNAMICS) - {"gread"}))
@pytest.mark.parametrize("directed", [False, True])
def test_gradients_in_state_and_parameters(name: str, directed: bool) -> None:
    dynamics = make(DYNAMICS[name])
    operator = make_operator("rw", 1.0, directed=directed, nodes=5)
    names, values = zip(*dynamics.named_parameters(), strict=True)

    def field(state: Tensor, *parameters: Tensor) -> Tensor:
        return torch.func.functional_call(
            dynamics, dict(zip(names, parameters, strict=True)), (ZERO, dynamics.start(state), operator)
        )

    state = make_state(nodes=5).requires_grad_()
    assert torch.autograd.gradcheck(field, (state, *values), atol=1e-7)


def test_edge_weights_that_require_gradients_get_them() -> None:
    index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])

    def field(weight: Tensor, factory: Callable[..., Dynamics]) -> Tensor:
        operator = Operator.from_edges(index, weight[[0, 0, 1, 1]], 3, normalisation="rw", self_loops=1.0)
        return make(factory)(ZERO, make_state(nodes=3), operator)

    weight = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    for factory in (Grand, GrandAttention, Cde):
        assert torch.autograd.gradcheck(partial(field, factory=factory), (weight,), atol=1e-7)


class TestNames:
    def test_unknown_names_are_refused_with_the_known_ones(self) -> None:
        known = (
            "grand, grand-attention, gread, gread-bs, gread-fisher, gread-allen-cahn, gread-zeldovich, cde, graphcon"
        )
        with pytest.raises(ValueError, match=f"dynamics must be one of {known}, got 'heat'"):
            make_dynamics("heat", 4, torch.Generator())

    def test_what_is_no_factory_is_refused(self) -> None:
        with pytest.raises(ValueError, match="must be a name or a factory"):
            make_dynamics(3, 4, torch.Generator())  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"must make a fdmvgcl.dynamics.Dynamics, got a Linear"):
            make_dynamics(lambda dim, generator: torch.nn.Linear(dim, dim), 4, torch.Generator())

    def test_descriptions_fit_json(self) -> None:
        assert describe_dynamics("cde") == "cde"
        assert describe_dynamics(Cde) == {"factory": "fdmvgcl.dynamics.cde.Cde"}
        assert describe_dynamics(partial(GraphCON, nu=0.0)) == {"factory": "fdmvgcl.dynamics.graphcon.GraphCON(nu=0.0)"}

    def test_the_same_seed_draws_the_same_parameters(self) -> None:
        first, again, other = (Cde(4, torch.Generator().manual_seed(s)).velocity for s in (0, 0, 1))
        assert torch.equal(first, again)
        assert not torch.equal(first, other)
