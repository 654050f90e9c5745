"""``reproduce theory``: what the paper claims of fractional diffusion, measured."""

from fdmvgcl.experiments.theory.experiment import Theory, claims

__all__ = ["Theory", "claims"]
