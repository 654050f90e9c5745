"""A table of edges and a table of features become vectors keyed by your ids.

python examples/own_table.py
"""

import tempfile
from pathlib import Path

from fdmvgcl import FDMVGCL, Graph
from fdmvgcl.results.search import nearest
from fdmvgcl.results.vectors import write_vectors

EDGES = """source,target,weight
flour,bread,3
flour,cake,2
sugar,cake,2
sugar,tea,1
milk,tea,1
milk,cake,1
yeast,bread,2
"""
FEATURES = """id,price,grams
bread,3.2,500
cake,12.5,900
flour,1.1,1000
milk,1.3,1000
sugar,1.5,1000
tea,4.0,100
yeast,0.4,7
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "edges.csv").write_text(EDGES)
        (folder / "nodes.csv").write_text(FEATURES)

        graph = Graph.read(folder / "edges.csv", features=folder / "nodes.csv")
        print(graph.describe())

        # Prices and grams have different units, so each column is brought to one scale.
        model = FDMVGCL(dim=16, views=3, epochs=5, features="columns", seed=0)
        z = model.fit_transform(graph)
        write_vectors(folder / "embeddings.parquet", graph.ids, {"z": z})

        for neighbour in nearest(folder / "embeddings.parquet", "bread", 3):
            print(f"{neighbour.id:8} {neighbour.cosine:+.3f}")


if __name__ == "__main__":
    main()
