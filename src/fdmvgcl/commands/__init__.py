"""What the commands do, apart from parsing; :mod:`fdmvgcl.cli` imports each when it is called."""
