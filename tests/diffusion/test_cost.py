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


def test_a_basis_of_fewer_functions_takes_less_and_is_read_faster() -> None:
    fewer = replace(PUBMED, modes=7)
    assert fewer.basis_bytes * 3 == PUBMED.basis_bytes
    assert fewer.diffuse_seconds < PUBMED.diffuse_seconds
    assert fewer.project_seconds == PUBMED.project_seconds
    assert fewer.fits(fewer.basis_bytes)
    assert not fewer.fits(fewer.basis_bytes - 1)
    assert PUBMED.training_bytes("interpolate") == PUBMED.training_bytes("diffuse")


def test_costs_grow_with_the_work() -> None:
    for field in ("nodes", "features", "dim", "views", "degree"):
        larger = replace(CORA, **{field: 2 * getattr(CORA, field)})
        assert larger.diffuse_seconds > CORA.diffuse_seconds
