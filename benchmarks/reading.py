"""Memory and time of reading edges: at once, and through DuckDB into a store, by bytes an edge.

    python benchmarks/reading.py [--scratch DIR] [--sizes 1M] [--memory 1000]

The graphs of ``end_to_end.py`` without their features, each read in a process of its own. ``bytes an edge`` are those
of its peak above that of a process that reads ten edges. ``--memory`` is the limit of the reader in pieces, in MB.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from end_to_end import SIZES, edges_of, write
from harness import in_own_process, machine, peak_memory, print_table, save_rows

from fdmvgcl import Graph
from fdmvgcl.graphs.readers.external import read_external


def child(path: str, store: str, memory: int) -> None:
    """Read it; a store's name means in pieces."""
    start, before = time.perf_counter(), time.process_time()
    graph = Graph.read(path) if store == "-" else read_external(path, store, memory)
    seconds, used = time.perf_counter() - start, time.process_time() - before
    size = {"nodes": graph.num_nodes, "edges": graph.num_edges}
    print(json.dumps({**size, "seconds": seconds, "cpu_seconds": used, "peak_bytes": peak_memory()}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scratch", type=Path, help="where graphs are kept between runs; else a temporary folder")
    parser.add_argument("--sizes", default="1M", help=f"of {', '.join(SIZES)}, separated by commas")
    parser.add_argument("--memory", type=int, default=1000)
    options = parser.parse_args()
    folder = options.scratch or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    tiny, store = folder / "tiny.parquet", folder / "reading.store"
    pq.write_table(pa.table({"source": range(10), "target": range(1, 11)}), tiny)
    rows = []
    for name in options.sizes.split(","):
        path = folder / f"{name}-edges.parquet"
        write(path, edges_of(*SIZES[name][:2]))
        listed = pq.read_metadata(path).num_rows
        for how, place in (("at once", "-"), ("in pieces", str(store))):
            about, taken = machine(), []
            for source in (tiny, path):
                taken.append(in_own_process(__file__, str(source), place, str(options.memory * 10**6)))
                shutil.rmtree(store, ignore_errors=True)
            bare, whole = taken
            more = (whole["peak_bytes"] - bare["peak_bytes"]) / listed
            kept = {"bare_bytes": bare["peak_bytes"], "bytes_an_edge": more, "machine": about}
            limit = None if place == "-" else options.memory * 10**6
            rows.append({"size": name, "how": how, "limit": limit, "listed": listed, **whole, **kept})
            save_rows("reading", rows[-1:], ("size", "how", "limit"))
    if options.scratch is None:
        shutil.rmtree(folder)
    cells = [
        [r["size"], r["how"], r["seconds"], r["cpu_seconds"], r["peak_bytes"] / 1e9, r["bytes_an_edge"]] for r in rows
    ]
    print_table(["size", "how", "s", "CPU s", "peak, bytes", "bytes an edge"], cells)


if __name__ == "__main__":
    if "--child" in sys.argv:
        source, place, limit = sys.argv[sys.argv.index("--child") + 1 :]
        child(source, place, int(limit))
    else:
        main()
