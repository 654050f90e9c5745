"""The training loop: phases of epochs, between which views whose orders have met are pruned (AVLA)."""

import json
import time
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from fdmvgcl.errors import ArgumentError, InputError
from fdmvgcl.files import StrPath, atomic_write, read_bytes
from fdmvgcl.learning.batches import Batch
from fdmvgcl.learning.diagnostics import describe_views, effective_rank, sample_rows
from fdmvgcl.learning.encoder import MultiViewEncoder
from fdmvgcl.learning.settings import Schedule
from fdmvgcl.losses import Loss

CHECKPOINT_FORMAT = 1

Observer = Callable[[Tensor], dict[str, Any]]
Build = Callable[[Tensor, torch.Generator], MultiViewEncoder]


# Of a single view, which has no other to be trained with.
LONE_ORDER = 0.7


def initial_orders(views: int) -> Tensor:
    """K orders, evenly spaced from 0.01 to 1; of a single view 0.7."""
    if views < 1:
        raise ArgumentError("views", f"must be at least 1, got {views}")
    if views == 1:
        return torch.tensor([LONE_ORDER], dtype=torch.float64)
    return torch.linspace(0.01, 1.0, views, dtype=torch.float64)


def distinct_orders(alphas: Tensor, merge_width: float, generator: torch.Generator) -> Tensor:
    """AVLA's reduction: of each run of orders whose logarithms span less than ``merge_width``, one at random.

    Never fewer than two: if all have met, the smallest and the largest stay. Returned ascending.
    """
    ordered = alphas.detach().sort().values
    runs: list[list[Tensor]] = []
    for alpha in ordered:
        if runs and float(alpha.log() - runs[-1][0].log()) < merge_width:
            runs[-1].append(alpha)
        else:
            runs.append([alpha])
    if len(runs) < 2:
        return torch.stack([ordered[0], ordered[-1]])
    return torch.stack([run[int(torch.randint(len(run), (1,), generator=generator))] for run in runs])


class Trainer:
    """Trains an encoder phase by phase; its whole state can be saved between any two epochs and taken up again.

    Args:
        build: ``build(alphas, generator)`` makes a fresh encoder with these orders.
        loss: views (K, N, d) -> named terms, with ``loss.weights`` of each term.
        combine: views (K, n, d) -> embedding (n, d); used to watch its effective rank.
        epochs: of a phase.
        schedule: how fast, and when to stop and to prune.
        alphas: initial orders.
        generator: source of all randomness.
        observe: called in each epoch with the views (K, N, d), detached, or in blocks with those of the rows that are
            looked at; what it returns, as JSON can hold it, is added to the epoch's record and to nothing else.
    """

    def __init__(
        self,
        build: Build,
        loss: Loss,
        combine: Callable[[Tensor], Tensor],
        epochs: int,
        schedule: Schedule,
        alphas: Tensor,
        generator: torch.Generator,
        observe: Observer | None = None,
    ) -> None:
        self.build, self.loss, self.combine, self.schedule, self.generator = build, loss, combine, schedule, generator
        self.epochs, self.observe = epochs, observe
        self.history: list[dict[str, Any]] = []
        self.phase, self.epoch, self.first_rank, self.kept, self.done = 0, 0, 0.0, 1.0, False
        self._begin_phase(alphas)

    def go_on(self, encoder: MultiViewEncoder, history: Sequence[dict[str, Any]]) -> None:
        """Continue the last phase of a history with its encoder's weights, for as many epochs again.

        What the phase has lost of its rank counts on, whatever the rank is on the graph that it goes on with.
        """
        self.encoder.load_state_dict(encoder.state_dict())
        self.history = list(history)
        self.phase = history[-1]["phase"] if history else 0
        ranks = [record["effective_rank"] for record in history if record["phase"] == self.phase]
        self.epoch, self.epochs = len(ranks), len(ranks) + self.epochs
        self.kept = ranks[-1] / ranks[0] if ranks and ranks[0] > 0 else 1.0

    def _begin_phase(self, alphas: Tensor) -> None:
        """Weights and optimiser anew, from these orders."""
        self.encoder = self.build(alphas, self.generator)
        fast = [self.encoder.weight, *self.encoder.dynamics.parameters()]
        slow = [self.encoder.alpha, self.encoder.time, self.encoder.skip_weight, self.encoder.rate]
        self.optimiser = torch.optim.Adam(
            [
                {"params": fast, "lr": self.schedule.lr, "weight_decay": self.schedule.weight_decay},
                {"params": [p for p in slow if p.requires_grad], "lr": self.schedule.order_lr},
            ]
        )
        self.epoch, self.first_rank = 0, 0.0

    def run(self, batch: Batch) -> Iterator[dict[str, Any]]:
        """Train to the end, yielding each epoch's record after the step that it describes."""
        while not self.done:
            collapsed = False
            while self.epoch < self.epochs and not collapsed:
                record = self._step(batch)
                collapsed = record["effective_rank"] < self.schedule.min_rank * self.first_rank
                if collapsed:
                    self.epoch = self.epochs
                self.history.append(record)
                yield record
            kept = distinct_orders(self.encoder.alpha, self.schedule.merge_width, self.generator)
            if len(kept) < len(self.encoder.alpha):
                self.phase += 1
                self._begin_phase(kept)
            else:
                self.done = True

    def _step(self, batch: Batch) -> dict[str, Any]:
        started = time.perf_counter()
        self.optimiser.zero_grad()
        found = batch(self.encoder, self.loss)
        if not bool(found.total.isfinite()):
            raise FloatingPointError(f"the loss is {found.total.item()} in phase {self.phase}, epoch {self.epoch}")
        record = {
            "phase": self.phase,
            "epoch": self.epoch,
            "loss": found.total.item(),
            **{name: term.item() for name, term in found.terms.items()},
            "alpha": self.encoder.alpha.tolist(),
            "time": self.encoder.time.tolist(),
            "skip_weight": self.encoder.skip_weight.item(),
            "rate": self.encoder.rate.item(),
            **self._describe(found.views),
        }
        if self.first_rank == 0.0:
            self.first_rank = record["effective_rank"] / self.kept
        record |= self._observed(found.views, known=record)
        self.optimiser.step()
        self.encoder.clamp_(self.schedule.smallest_alpha)
        self.epoch += 1
        return record | {"seconds": time.perf_counter() - started}

    @torch.no_grad()
    def _describe(self, views: Tensor) -> dict[str, Any]:
        sample = sample_rows(views)
        return {**describe_views(sample), "effective_rank": effective_rank(self.combine(sample))}

    @torch.no_grad()
    def _observed(self, views: Tensor, known: Container[str]) -> dict[str, Any]:
        found = {} if self.observe is None else self.observe(views)
        for name in found:
            if name in known:
                raise ArgumentError("observe", f"must not return {name!r}: the record has it already")
        return found

    def save(self, path: StrPath, settings: dict[str, Any]) -> None:
        """Write the whole state as safetensors; ``settings`` must be the same when it is taken up again."""
        tensors = {f"encoder.{name}": value for name, value in self.encoder.state_dict().items()}
        for number, slots in self.optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser.{number}.{slot}": value for slot, value in slots.items()}
        tensors["generator"] = self.generator.get_state()
        progress = {
            "format": CHECKPOINT_FORMAT,
            "settings": settings,
            "phase": self.phase,
            "epoch": self.epoch,
            "first_rank": self.first_rank,
            "done": self.done,
            "history": self.history,
        }
        content = save(
            {name: t.detach().cpu().contiguous() for name, t in tensors.items()}, {"progress": json.dumps(progress)}
        )
        with atomic_write(path) as handle:
            handle.write(content)

    def resume(self, path: StrPath, settings: dict[str, Any]) -> None:
        """Take up the state that :meth:`save` wrote."""
        tensors, progress = read_checkpoint(path)
        differing = [name for name, value in settings.items() if progress["settings"].get(name) != value]
        if differing:
            name = differing[0]
            raise InputError(
                path,
                f"was made with {name}={progress['settings'].get(name)!r}, not {settings[name]!r}; "
                f"use the same settings, or start anew without --resume",
            )
        self._begin_phase(tensors["encoder.alpha"])
        self.encoder.load_state_dict(
            {k.removeprefix("encoder."): v for k, v in tensors.items() if k.startswith("encoder.")}
        )
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in tensors.items():
            if name.startswith("optimiser."):
                _, number, slot = name.split(".")
                state.setdefault(int(number), {})[slot] = value
        self.optimiser.load_state_dict(self.optimiser.state_dict() | {"state": state})
        self.generator.set_state(tensors["generator"])
        self.phase, self.epoch, self.done = progress["phase"], progress["epoch"], progress["done"]
        self.first_rank, self.history = progress["first_rank"], progress["history"]


def read_checkpoint(path: StrPath) -> tuple[dict[str, Tensor], dict[str, Any]]:
    content = read_bytes(path)
    try:
        tensors = load(content)
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        progress = json.loads(header["__metadata__"]["progress"])
    except (SafetensorError, ValueError, KeyError) as error:
        raise InputError(path, f"is not a checkpoint of fdmvgcl ({type(error).__name__})") from None
    if progress.get("format") != CHECKPOINT_FORMAT:
        raise InputError(path, f"has checkpoint format {progress.get('format')!r}; expected {CHECKPOINT_FORMAT}")
    return tensors, progress
