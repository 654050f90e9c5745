import pytest
import torch

from fdmvgcl.diagnostics import effective_rank, sample_rows, view_similarity


def test_effective_rank_of_known_spectra() -> None:
    assert effective_rank(torch.eye(7)) == pytest.approx(7, rel=1e-5)
    assert effective_rank(torch.ones(9, 4)) == pytest.approx(1, rel=1e-2)
    two = torch.diag(torch.tensor([3.0, 1.0]))
    entropy = -(0.75 * torch.tensor(0.75).log() + 0.25 * torch.tensor(0.25).log())
    assert effective_rank(two) == pytest.approx(float(entropy.exp()), rel=1e-5)
    assert effective_rank(torch.zeros(3, 3)) == 0.0


def test_sampling_is_even_and_repeatable() -> None:
    x = torch.arange(2000.0)[:, None]
    rows = sample_rows(x, 100)
    assert len(rows) == 100
    assert rows[0] == 0
    assert rows[-1] == 1999
    assert torch.equal(rows, sample_rows(x, 100))
    assert sample_rows(x[:50], 100) is not None
    assert len(sample_rows(x[:50], 100)) == 50


def test_view_similarity_closes_the_ring() -> None:
    a, b = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    assert view_similarity(torch.stack([a, a, b])) == pytest.approx([1.0, 0.0, 0.0])
