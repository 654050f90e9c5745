"""Verdicts on limits, asymptotics, waiting times and stability."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from fdmvgcl.experiments.records import Record
from fdmvgcl.experiments.theory.claims import Claim, judge
from fdmvgcl.experiments.theory.scalars import slope

FEWEST_CHANCES = 1e-3  # p-value below which walkers and solution differ by more than chance
LATE = (10.0, 100.0)  # times between which decay is measured
_SLACK = 0.05  # of a measured exponent


def limit_one(record: Record) -> Claim:
    """α → 1 gives the heat equation."""
    ends = [row[-1] for row in record["from_exponential"]]
    rates = [slope(np.array(record["gaps"]), np.array(row)) for row in record["from_exponential"]]
    return Claim(
        "α → 1 is the heat equation",
        "as α → 1 the fractional derivative becomes the ordinary one.",
        f"The response is within {max(ends):.2g} of exp(-λT) for every λ at 1 - α = {record['gaps'][-1]:.0e} and "
        f"T ≤ {record['times'][-1]:g}; the distance falls as (1 - α)^{np.mean(rates):.2f}.",
        judge([max(ends) < 10 * record["times"][-1] * record["gaps"][-1], min(rates) > 0.9]),
        "limits.png",
    )


def limit_zero(record: Record) -> Claim:
    """α → 0 is said to be local."""
    near = max(row[-1] for row in record["from_resolvent"])
    away = min(row[-1] for row in record["from_identity"])
    stays = record["stays"][-1]
    return Claim(
        "α → 0 is local",
        "as α → 0 the walker has long waiting times and infrequent transitions, hence highly localized behaviour.",
        f"At α = {record['gaps'][-1]:.0e} the response is within {near:.2g} of 1/(1 + λ) for every T up to "
        f"{record['times'][-1]:g}, and {away:.2f} away from 1, which would be no diffusion: the limit is a resolvent. "
        f"After T = {record['times'][-1]:g} a walker has not moved with probability {stays:.2f}, against "
        f"{np.exp(-record['times'][-1]):.1g} at α = 1: more local than a large order, but far from staying.",
        judge([stays > np.exp(-record["times"][-1]), away < 0.1]),
        "limits.png",
    )


def positive_series(record: Record) -> Claim:
    """The large-time series of the proof, its remainder and the signs of its coefficients."""
    orders = [o for o in record["orders"] if o["terms"] > 1]
    printed = ", ".join(f"{o['slopes']['printed']:.2f}" for o in orders)
    names = ", ".join(f"{o['alpha']:g}" for o in orders)
    negative = {m: sum(o["negative"][m] for o in orders) for m in orders[0]["negative"]}
    signs = ", ".join(f"{count} for m = {m}" for m, count in negative.items())
    total = sum(o["terms"] for o in orders)
    right = max(o["slopes"]["alternating"] for o in record["orders"])
    return Claim(
        "The series at large times, with positive coefficients",
        "E_α(-λτ^α) is a sum of 1/(λ^j Γ(1-jα)) τ^(-jα) up to O(1/τ), and all coefficients b_j of 1 + e + … + e^m are "
        "positive.",
        f"What the printed series leaves falls as τ to the power {printed} for α = {names}, where -1 is claimed; with "
        f"signs (-1)^(j+1), which the print lacks, it falls as τ^{right:.2f} or faster for every α. (From α = 0.5 on "
        f"there is one term and no sign to miss.) With the signs, of the {total} coefficients b_j of these orders so "
        f"many are negative: {signs}.",
        judge([max(o["slopes"]["printed"] for o in orders) <= -1 + _SLACK, not any(negative.values())]),
        "asymptotics.png",
    )


def walk_solves(survivals: Sequence[Record], walks: Sequence[Record]) -> Claim:
    """The fractional random walk against the solution."""
    chances = [r["p_value"] for r in walks]
    sums = [r["symmetric_row_sums"] for r in walks]
    agree = min(chances) > FEWEST_CHANCES
    stochastic = all(abs(s - 1) < 1e-6 for pair in sums for s in pair)
    return Claim(
        "The fractional random walk solves the equation",
        "the solution of D^α Y = -L Y with the symmetric normalised L is a walk's distribution over nodes.",
        f"{walks[0]['walkers']} walkers with Mittag-Leffler waits on {walks[0]['key']['dataset']}, α from "
        f"{walks[0]['key']['alpha']:g} to {walks[-1]['key']['alpha']:g}: χ² against the solution with the random-walk "
        f"operator has p-values from {min(chances):.2g} to {max(chances):.2g}, so they "
        f"{'agree within chance' if agree else 'differ'}; waits differ from E_α(-t^α) by at most "
        f"{max(r['largest_z'] for r in survivals):.1f} standard errors at any t. With the symmetric operator the rows "
        f"of the solution add up to {min(s[0] for s in sums):.2f} – {max(s[1] for s in sums):.2f}"
        + ("." if stochastic else ", so they are no distributions: the walk belongs to the random-walk operator."),
        judge([agree, stochastic]),
        "waiting.png",
    )


def longer_waits(survivals: Sequence[Record]) -> Claim:
    """Whether a smaller order means longer waits."""
    medians = [r["median"] for r in survivals]
    tails = [(r["key"]["alpha"], r["tail_slope"]) for r in survivals if r["tail_slope"] is not None]
    heavier = all(a[1] > b[1] for a, b in pairwise(tails))
    low, high = survivals[0], survivals[-1]
    early = low["times"].index(min(low["times"], key=lambda t: abs(t - 0.1)))
    return Claim(
        "Smaller α, longer waits",
        "waits have a density d_α n^-(1+α): smaller α has heavier tails, longer expected waits and fewer transitions.",
        "The sampled tail beyond t = 100 falls with exponents "
        + ", ".join(f"{s:.2f} (α = {a:g})" for a, s in tails)
        + f": {'heavier for smaller α, near -α' if heavier else 'not in the order of α'}. But the median wait is "
        f"{medians[0]:.2f} at α = {low['key']['alpha']:g} and {medians[-1]:.2f} at α = {high['key']['alpha']:g}, and "
        f"{1 - low['exact'][early]:.0%} against {1 - high['exact'][early]:.0%} have moved by t = "
        f"{low['times'][early]:g}: short waits have other shares than long ones. Expected waits are infinite for every "
        "α < 1.",
        judge([heavier, all(a >= b for a, b in pairwise(medians))]),
        "waiting.png",
    )


def bound(records: Sequence[Record]) -> Claim:
    """The theorem's O(ε T^(α-1))."""
    parts, told = [], []
    for dataset, noise, growth, record in _grouped(records):
        times, alphas = np.array(record["times"]), record["alphas"]
        late = (times >= LATE[0] * 0.99) & (times <= LATE[1] * 1.01)
        measured = [slope(times[late], row[late]) for row in growth]
        parts += [m <= alpha - 1 + _SLACK for m, alpha in zip(measured, alphas, strict=True)]
        told.append(
            f"{dataset}, {noise}: {measured[0]:+.2f} at α = {alphas[0]:g}, {measured[-1]:+.2f} at α = {alphas[-1]:g}"
        )
    claimed = f"{records[0]['alphas'][0] - 1:+.2f} and {records[0]['alphas'][-1] - 1:+.2f}"
    start = max(r["at_start"] for r in records)
    return Claim(
        "Stability: the distance is O(ε T^(α-1)) on [0, T]",
        "‖Y(t) - Ỹ(t)‖ = O(ε T^(α-1)) for t ∈ [0, T], for noise on features, parameters and topology.",
        f"Exponents of the growth between T = {LATE[0]:g} and {LATE[1]:g}, where {claimed} are claimed. "
        + "; ".join(told)
        + f". {sum(parts)} of {len(parts)} orders and noises decay as fast as claimed. At t = 0 the distance is "
        f"already {start:.2g} ε for noise on features or weights, so that no bound on all of [0, T] can fall with T.",
        judge([all(parts)]),
        "perturbation.png",
    )


def smaller_is_stabler(records: Sequence[Record]) -> Claim:
    """Whether the distance falls with smaller orders, as the paper concludes."""
    parts, told = [], []
    for dataset, noise, growth, record in _grouped(records):
        times = np.array(record["times"])
        at = [int(np.argmin(np.abs(times - t))) for t in LATE]
        parts += [bool(growth[0, i] <= growth[-1, i]) for i in at]
        values = ", ".join(f"{growth[0, i]:.2g} against {growth[-1, i]:.2g} at T = {times[i]:g}" for i in at)
        told.append(f"{dataset}, {noise}: {values}")
    alphas = records[0]["alphas"]
    return Claim(
        "Stability: smaller α, smaller discrepancy",
        "smaller α_k values result in reduced feature discrepancies, more resilient to perturbations.",
        f"Distance over ε at α = {alphas[0]:g} against α = {alphas[-1]:g}. " + "; ".join(told) + ". "
        f"The smaller order is the stabler in {sum(parts)} of {len(parts)} cases. (In the linear equation a mode λ > 0 "
        "decays as T^-α, slower for smaller α, and the mode λ = 0 does not decay.)",
        judge([all(parts)]),
        "perturbation.png",
    )


def _grouped(records: Sequence[Record]) -> list[tuple[str, str, np.ndarray, Record]]:
    """(data set, noise, growth (K, M) as mean over draws, one of the records)."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record["key"]["dataset"], record["key"]["noise"]), []).append(record)
    return [(*names, np.mean([r["growth"] for r in found], axis=0), found[0]) for names, found in groups.items()]
