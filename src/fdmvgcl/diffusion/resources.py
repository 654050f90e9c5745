"""What work may take: memory, a folder for what exceeds it, and who shares in it."""

import tempfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from fdmvgcl.diffusion.group import ALONE, Group
from fdmvgcl.machine import memory_share

# Of the memory, what a basis may take that is kept there while rows are worked on in blocks.
_KEPT = 0.25


@dataclass(frozen=True)
class Resources:
    """What work may take.

    Args:
        memory: bytes; half of this process's share of the machine's if not given.
        scratch: a folder for what does not fit, which all processes share; None for a temporary one.
        group: the processes that share in it.
    """

    memory: int = field(default_factory=lambda: memory_share() // 2)
    scratch: Path | None = None
    group: Group = ALONE

    def stores(self, size: int) -> bool:
        """Whether a basis of so many bytes goes to the disk: where it would fill the memory, or others need it too."""
        return self.group.size > 1 or size > _KEPT * self.memory

    @property
    def folder(self) -> Path:
        """The scratch folder, made if need be."""
        folder = Path(self._temporary.name) if self.scratch is None else self.scratch
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @cached_property
    def _temporary(self) -> tempfile.TemporaryDirectory[str]:
        """Gone when this is."""
        return tempfile.TemporaryDirectory(prefix="fdmvgcl-")
