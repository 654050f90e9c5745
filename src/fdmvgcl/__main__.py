"""``python -m fdmvgcl`` is the command ``fdmvgcl``."""

from fdmvgcl.cli import main

main()
