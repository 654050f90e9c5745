"""A user's file as bytes, read once, and what it is: by its ending, or where that tells nothing by how it begins.

``-`` and ``/dev/stdin`` are the standard input; pipes are read like files. What is packed with gzip, zstd, bzip2 or lz4
is unpacked by Arrow, no further than an honest file would go.
"""

import os
import re
import sys

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fdmvgcl.errors import InputError
from fdmvgcl.files import StrPath, checked_unpacking, read_bytes

STDIN = "-"
_PACKED = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bz2",
    b"\x04\x22\x4d\x18": "lz4",
}
PACKED_ENDINGS = (".gz", ".zst", ".zstd", ".bz2", ".lz4")
_PIECE = 16 << 20

_FORMS = {
    "Parquet": (".parquet", ".pq"),
    "Arrow": (".arrow", ".arrows", ".feather", ".ipc"),
    "JSON lines": (".jsonl", ".ndjson"),
    "GraphML": (".graphml",),
    "npz": (".npz",),
    "Matrix Market": (".mtx",),
}
_AS_GRAPHML = "write it as GraphML (networkx.write_graphml) and give that"
_REFUSED = {
    "edge data": (
        "NetworkX's edge list with a dictionary an edge",
        "write it with networkx.write_weighted_edgelist and say --weight 3",
    ),
    "adjacency": ("NetworkX's adjacency list of many lines", "write it with networkx.write_edgelist(…, data=False)"),
    "Git LFS": ("a pointer of Git LFS, and not the file", "fetch it with git lfs pull"),
    ".dot": ("a drawing by Graphviz", f"read it with NetworkX, {_AS_GRAPHML}"),
    ".gv": ("a drawing by Graphviz", f"read it with NetworkX, {_AS_GRAPHML}"),
    ".gexf": ("Gephi's GEXF", f"export GraphML or CSV from Gephi, or {_AS_GRAPHML}"),
    ".gml": ("GML", f"read it with networkx.read_gml, {_AS_GRAPHML}"),
    ".net": ("Pajek", f"read it with networkx.read_pajek, {_AS_GRAPHML}"),
    ".paj": ("Pajek", f"read it with networkx.read_pajek, {_AS_GRAPHML}"),
    ".json": ("one JSON document", "write one object a line (.jsonl), or CSV"),
    ".xlsx": ("an Excel workbook", "save the sheet as CSV"),
    ".xls": ("an Excel workbook", "save the sheet as CSV"),
    ".ods": ("a spreadsheet", "save the sheet as CSV"),
    ".npy": ("one NumPy array", "save a sparse matrix with scipy.sparse.save_npz, or a table as CSV or Parquet"),
    ".mat": ("a MATLAB file", "save the matrix with scipy.sparse.save_npz"),
    ".pkl": ("a pickle", "it could run any code; write a table as CSV or Parquet"),
    ".pickle": ("a pickle", "it could run any code; write a table as CSV or Parquet"),
    ".pt": ("a pickle of PyTorch", "it could run any code; use Graph.from_pyg in Python"),
    ".h5": ("HDF5", "write a table as CSV or Parquet"),
    ".html": ("a web page", "if it came instead of a file, the download failed; else save the table as CSV"),
    ".pdf": ("a PDF document", "write the table as CSV"),
    ".md": ("a table in Markdown", "write it as CSV"),
    ".db": ("a database", "export the tables as CSV"),
    ".sqlite": ("a database", "export the tables as CSV"),
    ".zip": ("a ZIP archive", "unpack it and give the file in it"),
    ".xz": ("packed with xz", "unpack it, or pack it with gzip or zstd"),
    ".7z": ("an archive of 7-Zip", "unpack it and give the file in it"),
    ".tar": ("a TAR archive", "unpack it and give the file in it"),
    ".png": ("a picture", "write the table as CSV"),
}
# How files begin whose ending does not tell; the first that matches.
_BEGINNINGS = (
    (rb"PAR1", "Parquet"),
    (rb"ARROW1|FEA1|\xff\xff\xff\xff", "Arrow"),
    (rb"%%MatrixMarket", "Matrix Market"),
    (rb"\x93NUMPY", ".npy"),
    (rb"\x80[\x02-\x05]", ".pkl"),
    (rb"\x89HDF", ".h5"),
    (rb"SQLite format 3", ".sqlite"),
    (rb"\xd0\xcf\x11\xe0", ".xls"),
    (rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)?<gexf\b", ".gexf"),
    (rb"\s*(<!--.*?-->\s*)?<(!doctype\s+html|html)\b", ".html"),
    (rb"%PDF-", ".pdf"),
    (rb"\xfd7zXZ\x00", ".xz"),
    (rb"7z\xbc\xaf\x27\x1c", ".7z"),
    (rb".{257}ustar", ".tar"),
    (rb"\x89PNG|\xff\xd8\xff|GIF8", ".png"),
    (rb"\s*\|?[^\n]*\|[^\n]*\n\s*\|?(\s*:?-{3,}:?\s*\|)+\s*(:?-{3,}:?\s*)?\n", ".md"),
    (rb"\s*(<\?xml|<graphml\b)", "GraphML"),
    (rb"\s*(strict\s+)?(di)?graph\b[^,;\t\n]{0,80}\{", ".dot"),
    (rb"(Creator [^\n]*\n)?\s*graph\s*\[", ".gml"),
    (rb"\s*\*(vertices|network)\b", ".net"),
    (rb"(#[^\n]*\n)*[^\n{\"]+\{'[^\n]*\}\s*(\n|$)", "edge data"),
    (rb"(#[^\n]*\n)*\S+ [0-9]+\n\S+ \{[^\n]*\}\n", "adjacency"),
    (rb"version https://git-lfs\.", "Git LFS"),
    (rb'\s*\{\s*"[^\n]*\}\s*(\n|$)', "JSON lines"),
    (rb'\s*(\[\s*)?\{\s*("|\n)', ".json"),
)

# What a ZIP file is, by the name of a file in it.
_ZIPPED = {
    b"[Content_Types].xml": ".xlsx",
    b"opendocument.spreadsheet": ".ods",
    b"/data.pkl": ".pt",
    b".npy": "npz",
}


def content(path: StrPath) -> bytes:
    """The whole of a user's file, unpacked."""
    data = _standard_input(path) if os.fspath(path) == STDIN else read_bytes(path)
    packing = packing_of(data)
    return data if packing is None else _unpacked(path, data, packing)


def _standard_input(path: StrPath) -> bytes:
    data = sys.stdin.buffer.read()
    if not data:
        raise InputError(path, "the standard input is empty")
    return data


def _unpacked(path: StrPath, data: bytes, packing: str) -> bytes:
    pieces, size = [], 0
    try:
        with pa.input_stream(pa.BufferReader(data), compression=packing) as stream:
            while piece := stream.read(_PIECE):
                size += len(piece)
                checked_unpacking(path, len(data), size)
                pieces.append(piece)
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(path, f"is not a whole {packing} file ({(str(error).splitlines() or [''])[0][:80]})") from None
    if not size:
        raise InputError(path, "is empty, unpacked")
    return b"".join(pieces)


def owned_by_arrow(data: bytes | NDArray[np.uint8]) -> pa.Buffer:
    """A copy that Arrow frees by itself.

    Its readers have threads that may hold on to what they read when Python ends; memory of NumPy's or Python's, freed
    there, would abort the process.
    """
    buffer = pa.allocate_buffer(len(data))
    np.frombuffer(buffer, dtype=np.uint8)[:] = np.frombuffer(data, dtype=np.uint8)
    return buffer


def packing_of(start: bytes) -> str | None:
    """How a file is packed that begins like this, None where it is not."""
    return next((name for begin, name in _PACKED.items() if start.startswith(begin)), None)


def form_of(path: StrPath, data: bytes) -> str:
    """``"Parquet"``, ``"Arrow"``, ``"JSON lines"``, ``"GraphML"``, ``"npz"``, ``"Matrix Market"`` or ``"text"``."""
    name = os.fspath(path).lower()
    while name.endswith(PACKED_ENDINGS):
        name = name.rpartition(".")[0]
    ending = os.path.splitext(name)[1]
    for form, endings in _FORMS.items():
        if ending in endings:
            return form
    found = _begins(data)
    if found == "JSON lines" and ending == ".json" and data.strip().count(b"\n{") == 0:
        found = ".json"
    if found in _FORMS:
        return found
    for what in (found, ending):
        if what in _REFUSED:
            kind, advice = _REFUSED[what]
            raise InputError(path, f"is {kind}, which is not read here: {advice}")
    return "text"


def _begins(data: bytes) -> str:
    if data.startswith(b"PK\x03\x04"):
        return next((form for name, form in _ZIPPED.items() if name in data), ".zip")
    start = data[:4096]
    return next((form for pattern, form in _BEGINNINGS if re.match(pattern, start, re.I | re.S)), "")
