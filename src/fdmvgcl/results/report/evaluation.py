"""The evaluation's part of the page: the probe and further tasks beside their controls."""

from typing import Any

import numpy as np

from fdmvgcl.evaluation.metrics import METRICS
from fdmvgcl.evaluation.standing import Measured, Standing
from fdmvgcl.results.history import number

_MOST_TASKS = 10


def evaluation_content(record: dict[str, Any]) -> dict[str, Any] | None:
    """The probe and its controls, of what looks like them."""
    scores = record.get("scores")
    rows = [_score(score) for score in scores if isinstance(score, dict)] if isinstance(scores, list) else []
    rows = [row for row in rows if row["mean"] is not None]
    if not rows:
        return None
    metric = {str(key): name for key, name in METRICS.items()}.get(str(record.get("metric")), "accuracy")
    return {
        "metric": metric,
        "splits": str(record.get("splits", ""))[:200],
        "weights": str(record.get("weights", ""))[:200],
        "rows": rows,
        "tasks": _tasks(record.get("tasks"), metric),
    }


def _tasks(tasks: Any, shown_already: str) -> list[dict[str, Any]]:
    """A table for each task, a column for each metric, of what looks like them."""
    tables = []
    for task in tasks[:_MOST_TASKS] if isinstance(tasks, list) else []:
        if not isinstance(task, dict) or not isinstance(task.get("metrics"), list):
            continue
        found = [each for each in map(_standing, task["metrics"]) if each is not None and each.metric != shown_already]
        if found:
            columns = [[_cell(each, one) for one in (each.ours, *each.controls)] for each in found]
            tables.append(
                {
                    "name": str(task.get("task", ""))[:80],
                    "told": found[0].told[:200],
                    "metrics": [each.metric[:40] for each in found],
                    "names": [one.name[:80] for one in (found[0].ours, *found[0].controls)],
                    "cells": list(zip(*columns, strict=False)),
                }
            )
    return tables


def _standing(record: Any) -> Standing | None:
    try:
        found = Standing.from_record(record)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return found if all(np.isfinite(each.values).all() for each in (found.ours, *found.controls)) else None


def _cell(standing: Standing, one: Measured) -> dict[str, Any]:
    if one is standing.ours:
        return {"mean": one.mean, "above": None}
    apart = standing.difference(one)
    return {"mean": one.mean, "above": {"mean": apart.mean, "low": apart.low, "high": apart.high}}


def _score(score: dict[str, Any]) -> dict[str, Any]:
    difference = score.get("difference")
    told = difference if isinstance(difference, dict) else {}
    return {
        "name": str(score.get("name", ""))[:80],
        "mean": number(score.get("mean")),
        "spread": number(score.get("over_splits")),
        "above": {key: number(told.get(key)) for key in ("mean", "low", "high")} if told else None,
    }
