"""Verdicts on the theorem about graph frequencies: smooth components, concentration, and how they grow with the gap."""

from collections.abc import Sequence
from itertools import combinations, pairwise

from fdmvgcl.experiments.records import Record
from fdmvgcl.experiments.theory.claims import Claim, judge

Table = Sequence[Sequence[float]]

# A little less than the rounding of the records' four digits lets through.
_TIE = 1e-3


def falls_with_order(values: Sequence[float]) -> bool:
    """Whether values, by ascending order, never rise by more than rounding."""
    return all(later <= earlier * (1 + _TIE) for earlier, later in pairwise(values))


def falls_from(table: Table, times: Sequence[float]) -> float | None:
    """The first time from which on, at all later ones too, values fall with the order; None if not at the last."""
    since = None
    for time, values in zip(reversed(times), reversed(table), strict=True):
        if not falls_with_order(values):
            break
        since = time
    return since


def smooth(records: Sequence[Record], skip: str) -> Claim:
    """Claim (a), for plain diffusion or with the theorem's skip-connection."""
    told, parts = [], []
    for record in records:
        times = record["times"]
        table = record["measures"][skip]["mean_frequency"]
        since = falls_from(table, times)
        parts.append(since is not None and since <= record["shown_time"])
        told.append(_smoothness(record, skip, since))
    with_skip = skip != "0"
    return Claim(
        f"(a) Larger α, smoother features: {'with the skip-connection' if with_skip else 'plain diffusion'}",
        "for α_l < α_g and large t, the features of the larger order contain more large smooth components"
        + (", shown for m rounds of diffusion with a skip-connection." if with_skip else "."),
        "Mean frequency of the energy, lower being smoother. "
        + " ".join(told)
        + (
            f" (m = {skip}: as T grows, φ tends to 1 for every λ > 0 at α = 1, so that the input comes back, while a "
            "small order still lifts the low frequencies.)"
            if with_skip
            else ""
        ),
        judge([all(parts)]),
        "energy.png" if not with_skip else "energy_over_time.png",
    )


def _smoothness(record: Record, skip: str, since: float | None) -> str:
    alphas, times, table = record["alphas"], record["times"], record["measures"][skip]["mean_frequency"]
    shown, low = (
        record["measures"][skip][m][times.index(record["shown_time"])] for m in ("mean_frequency", "low_share")
    )
    ends = f"{shown[0]:.3g} at α = {alphas[0]:g} and {shown[-1]:.3g} at α = {alphas[-1]:g}"
    name = f"{record['key']['dataset'].capitalize()}: {ends} for T = {record['shown_time']:g} ({low[0]:.0%} and "
    name += f"{low[-1]:.0%} of the energy at λ ≤ {record['low']:g})"
    if since is None:
        last = table[-1]
        smoothest = alphas[min(range(len(last)), key=lambda i: last[i])]
        return f"{name}; at T = {times[-1]:g} the smoothest is α = {smoothest:g}, not the largest order."
    early = [t for t, values in zip(times, table, strict=True) if values[-1] > values[0]]
    reverse = f"; at T ≤ {max(early):g} it is the other way round" if early else ""
    return f"{name}; falls with α at all T ≥ {since:g}{reverse}."


def concentration(records: Sequence[Record]) -> Claim:
    """Claim (b), without and with skip."""
    told, parts = [], []
    for record in records:
        for skip, words in (("0", "plain"), ("1", "with skip")):
            table = record["measures"][skip]["frequencies_used"]
            since = falls_from(table, record["times"])
            parts.append(since is not None and since <= record["shown_time"])
            shown = table[record["times"].index(record["shown_time"])]
            told.append(
                f"{record['key']['dataset'].capitalize()}, {words}: {shown[0]:.4g} at α = {record['alphas'][0]:g}, "
                f"{shown[-1]:.3g} at α = {record['alphas'][-1]:g}"
                + (f" (in order at all T ≥ {since:g})." if since is not None else " (not in order at large T).")
            )
    used = ", ".join(f"{r['input']['frequencies_used']:.4g}" for r in records)
    return Claim(
        "(b) Smaller α, less concentrated energy",
        "the features of the smaller order are less energy concentrated.",
        f"Number of frequencies used (exponential of the entropy of the shares; input {used}). " + " ".join(told),
        judge([all(parts)]),
        "energy_over_time.png",
    )


def gap(records: Sequence[Record]) -> Claim:
    """Whether the contrast in (a) grows with the difference of the orders."""
    told: list[str] = []
    nested_parts: list[bool] = []
    any_parts: list[bool] = []
    for record in records:
        values = record["measures"]["0"]["mean_frequency"][record["times"].index(record["shown_time"])]
        nested = falls_with_order(values)
        against, compared = discordant(record["alphas"], values)
        nested_parts.append(nested)
        any_parts.append(against == 0)
        told.append(
            f"{record['key']['dataset'].capitalize()}: widening a pair of orders at either end "
            f"{'always adds' if nested else 'does not always add'} to the contrast; of {compared} comparisons of any "
            f"two pairs the wider gap has the smaller contrast in {against} ({against / compared:.0%})."
        )
    return Claim(
        "The contrast grows with the gap",
        "the contrast in (a) and (b) becomes more pronounced as α_g - α_l increases.",
        "Difference of mean frequencies, plain diffusion. "
        + " ".join(told)
        + " It depends on where the two orders lie, and not on their difference alone.",
        judge([all(nested_parts), all(any_parts)]),
        "contrast.png",
    )


def discordant(alphas: Sequence[float], values: Sequence[float]) -> tuple[int, int]:
    """Of all comparisons of two pairs of orders with different gaps, those where the wider has less contrast."""
    pairs = [(alphas[j] - alphas[i], abs(values[i] - values[j])) for i, j in combinations(range(len(alphas)), 2)]
    against = compared = 0
    for (gap_one, one), (gap_two, two) in combinations(pairs, 2):
        if abs(gap_one - gap_two) > 1e-9:
            compared += 1
            against += (gap_one - gap_two) * (one - two) < 0
    return against, compared
