"""The command ``fdmvgcl``: parse, call, write. Importing it brings no torch: help must be there at once."""

from fdmvgcl.cli.commands import app, main

__all__ = ["app", "main"]
