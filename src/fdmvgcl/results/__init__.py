"""What a run leaves and how it is looked at: the folder, its vectors, its history, its report. No torch by itself."""

from fdmvgcl.results.outputs import ResultFolder
from fdmvgcl.results.search import Neighbour, nearest
from fdmvgcl.results.vectors import VectorFile, write_vectors

__all__ = ["Neighbour", "ResultFolder", "VectorFile", "nearest", "write_vectors"]
