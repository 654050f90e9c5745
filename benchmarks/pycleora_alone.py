"""pycleora's vectors of a Parquet file of edges, by a Python that needs nothing else: see ``cleora.py``.

    python benchmarks/pycleora_alone.py EDGES.parquet VECTORS.npz WIDTH [STEPS]

With steps, so many and no whitening, in place of its defaults.
"""

import json
import resource
import sys
import time

import numpy as np
import pyarrow.parquet as pq
import pycleora


def main() -> None:
    edges, out, width, *steps = sys.argv[1:]
    start = time.perf_counter()
    ends = pq.read_table(edges)
    lines = (f"{i} {j}" for i, j in zip(*(ends[name].to_pylist() for name in ("source", "target")), strict=True))
    graph = pycleora.SparseMatrix.from_iterator(lines, "complex::reflexive::node")
    given = {"num_iterations": int(steps[0]), "whiten": False} if steps else {}
    vectors = pycleora.embed(graph, feature_dim=int(width), seed=0, **given)
    np.savez(out, ids=np.array(graph.entity_ids, dtype=np.int64), z=vectors)
    seconds = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_SELF)
    took = {"seconds": seconds, "cpu_seconds": used.ru_utime + used.ru_stime, "peak_bytes": used.ru_maxrss * 1024}
    print(json.dumps(took))


if __name__ == "__main__":
    main()
