"""Project first or diffuse first: an epoch of each on a dozen settings, and how often the cost model picks the faster.

python benchmarks/order.py [--data-root DIR]
"""

import statistics

import torch
from harness import alternate, arguments, print_table, save_record

from fdmvgcl import FDMVGCL
from fdmvgcl.datasets import load
from fdmvgcl.learning.prepare import Prepared
from fdmvgcl.losses import RegularisedCosmean

# data set, dim, views, time
SETTINGS = [
    ("cora", 256, 3, 20.0),
    ("cora", 512, 4, 20.0),
    ("citeseer", 512, 3, 5.0),
    ("pubmed", 256, 3, 10.0),
    ("pubmed", 1024, 2, 10.0),
    ("pubmed", 512, 2, 10.0),
    ("photo", 256, 3, 5.0),
    ("photo", 1024, 2, 5.0),
    ("computers", 512, 2, 5.0),
    ("wisconsin", 1024, 5, 20.0),
    ("chameleon", 1024, 3, 3.0),
    ("tolokers", 256, 2, 5.0),
    ("minesweeper", 512, 3, 10.0),
    ("digits", 512, 5, 10.0),
]

HELD_OUT = [
    ("cornell", 512, 3, 5.0),
    ("texas", 256, 4, 1.0),
    ("chameleon", 256, 5, 20.0),
    ("squirrel", 256, 2, 3.0),
    ("citeseer", 128, 2, 20.0),
    ("actor", 256, 2, 5.0),
    ("cora", 1024, 2, 3.0),
    ("photo", 128, 2, 20.0),
    ("pubmed", 128, 2, 3.0),
    ("minesweeper", 128, 2, 3.0),
]


def epoch(prepared: Prepared, encoder: torch.nn.Module, loss: RegularisedCosmean) -> None:
    encoder.zero_grad()
    views = encoder(prepared.features, prepared.operator, prepared.basis)
    sum(loss(views).values()).backward()


def main() -> None:
    options = arguments(__doc__)
    rows, measured = [], []
    for name, dim, views, time in HELD_OUT if options.held_out else SETTINGS:
        graph = load(name, options.data_root).graph()
        sides = {}
        for order in ("project", "diffuse"):
            model = FDMVGCL(dim=dim, views=views, epochs=0, time=time)
            prepared, loss = model.prepare(graph, order_of_work=order), RegularisedCosmean(0.05)
            encoder = model.fit(prepared).encoder_
            sides[order] = lambda p=prepared, e=encoder, loss=loss: epoch(p, e, loss)
        times = alternate(sides)
        warm = {order: times[order]["warm"] for order in sides}
        faster, picked = (
            min(warm, key=warm.get),
            FDMVGCL(dim=dim, views=views, time=time).prepare(graph).chosen.order_of_work,
        )
        # a pick that costs under 5 % more than the best is no worse than the clock can tell
        right = picked == faster or warm[picked] < 1.05 * warm[faster]
        measured.append({"setting": [name, dim, views, time], "times": times, "picked": picked, "right": right})
        rows.append([name, dim, views, time, warm["project"], warm["diffuse"], picked, "yes" if right else "NO"])
        print_table(["data set", "d", "K", "T", "project s", "diffuse s", "picked", "right"], rows[-1:])
    print()
    print_table(["data set", "d", "K", "T", "project s", "diffuse s", "picked", "right"], rows)
    share = statistics.mean(m["right"] for m in measured)
    print(f"right in {share:.0%} of {len(rows)} settings")
    save_record("order_held_out" if options.held_out else "order", measured, {"share right": share})


if __name__ == "__main__":
    main()
