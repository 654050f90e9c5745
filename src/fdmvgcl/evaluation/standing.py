"""A number beside those that it has to beat, and a sentence on who wins."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fdmvgcl.evaluation.summary import Difference, paired_difference

OURS = "embedding"
_SEEN = 5e-4  # smaller differences do not show in three digits


@dataclass(frozen=True)
class Measured:
    """Scores of one way to do it, a number for each fold or draw; those of two ways are paired."""

    name: str
    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))


@dataclass(frozen=True)
class Standing:
    """The embedding's score and those of its controls.

    Args:
        metric: what was measured, such as ``"accuracy"``.
        told: how, in words.
        ours: the embedding's.
        controls: what it has to beat.
    """

    metric: str
    told: str
    ours: Measured
    controls: tuple[Measured, ...]

    def difference(self, control: Measured) -> Difference:
        """How much the embedding is above a control."""
        return paired_difference(self.ours.values, control.values)

    @property
    def sentence(self) -> str:
        """Who wins, and whether it is clear; the control that wins is named."""
        if not self.controls:
            return ""
        best = max(self.controls, key=lambda control: control.mean)
        numbers = f"{self.metric} {self.ours.mean:.3f} against {best.mean:.3f}"
        if abs(best.mean - self.ours.mean) < _SEEN:
            return f"{best.name} does as well: {numbers}"
        unclear = self.difference(best).verdict == "no difference" and len(best.values) > 1
        ahead = "ahead, though not clearly," if unclear else "ahead"
        first, second = ("the embedding", best.name) if self.ours.mean > best.mean else (best.name, "the embedding")
        return f"{first} is {ahead} of {second}: {numbers}"

    def rows(self) -> list[tuple[str, str, str]]:
        """Name, score, and how much the embedding is above it with the interval: a line of a table each."""
        found = [(self.ours.name, f"{self.ours.mean:.3f}", "")]
        for control in self.controls:
            difference = self.difference(control)
            between = ""
            if difference.low is not None and difference.high is not None:
                between = f" ({difference.low:+z.3f} to {difference.high:+z.3f})"
            found.append((control.name, f"{control.mean:.3f}", f"{difference.mean:+z.3f}{between}"))
        return found

    def record(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return {
            "metric": self.metric,
            "measured": self.told,
            "scores": {each.name: list(each.values) for each in (self.ours, *self.controls)},
            "differences": {each.name: asdict(self.difference(each)) for each in self.controls},
            "verdict": self.sentence,
        }

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "Standing":
        """What :meth:`record` gave; KeyError, TypeError or ValueError for anything else."""
        measured = [Measured(str(name), tuple(map(float, values))) for name, values in record["scores"].items()]
        counts = {len(each.values) for each in measured}
        if len(counts) != 1 or 0 in counts:
            raise ValueError("scores must be lists of one length")
        return cls(str(record["metric"]), str(record["measured"]), measured[0], tuple(measured[1:]))


def measured(name: str, values: Sequence[float]) -> Measured:
    return Measured(name, tuple(float(value) for value in values))


def standing_of(metric: str, told: str, found: Mapping[str, Sequence[float]]) -> Standing:
    """Of scores by name, of which the first are the embedding's."""
    ours, *controls = (measured(name, values) for name, values in found.items())
    return Standing(metric, told, ours, tuple(controls))
