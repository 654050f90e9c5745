from dataclasses import replace

from fdmvgcl.diffusion.cost import Workload

CORA = Workload(2708, 13264, 1433, 49216, False, 512, 4, 25)
PUBMED = Workload(19717, 108365, 500, 988031, False, 4096, 5, 20)


def test_sparse_features_are_projected_first_and_few_columns_diffused_first() -> None:
    assert CORA.faster_order() == "project"
    assert PUBMED.faster_order() == "diffuse"


def test_a_basis_that_does_not_fit_is_not_made() -> None:
    assert PUBMED.faster_order(memory_limit=PUBMED.basis_bytes - 1) == "project"
    assert PUBMED.faster_order(memory_limit=PUBMED.basis_bytes) == "diffuse"


def test_costs_grow_with_the_work() -> None:
    for field in ("nodes", "features", "dim", "views", "degree"):
        larger = replace(CORA, **{field: 2 * getattr(CORA, field)})
        assert larger.diffuse_seconds > CORA.diffuse_seconds
