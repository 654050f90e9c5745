"""The commands, in the order of ``--help``; what one needs is imported when it is called."""

from fdmvgcl.cli.commands import embedding, asking, judging, experiments  # isort: skip
from fdmvgcl.cli.commands.start import app, main

__all__ = ["app", "asking", "embedding", "experiments", "judging", "main"]
