"""A claim of the paper beside what was measured, and the page that lists them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["holds", "holds in part", "does not hold"]


@dataclass(frozen=True)
class Claim:
    """One claim.

    Args:
        title: a few words.
        paper: what the paper says.
        measured: what the records say, in numbers.
        verdict: whether it holds as stated.
        picture: file name of the picture that shows it, beside the page.
    """

    title: str
    paper: str
    measured: str
    verdict: Verdict
    picture: str


def judge(parts: Sequence[bool]) -> Verdict:
    """``holds`` if all do, ``does not hold`` if none does."""
    if all(parts):
        return "holds"
    return "holds in part" if any(parts) else "does not hold"


def summary_table(claims: Sequence[Claim]) -> str:
    """One row a claim."""
    rows = [f"| {claim.title} | {claim.verdict} |" for claim in claims]
    return "\n".join(["| claim | as stated |", "| --- | --- |", *rows]) + "\n"


def page(claims: Sequence[Claim], introduction: str) -> str:
    """The whole page as Markdown; a picture stands once, with the first of its claims."""
    parts = ["# Theory, measured\n", introduction, summary_table(claims)]
    shown: set[str] = set()
    for claim in claims:
        parts.append(f"## {claim.title}: {claim.verdict}\n")
        parts.append(f"*Paper:* {claim.paper}\n\n*Measured:* {claim.measured}\n")
        if claim.picture not in shown:
            parts.append(f"![{claim.title}]({claim.picture})\n")
            shown.add(claim.picture)
    return "\n".join(parts)
