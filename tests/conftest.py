"""Fixtures for all tests."""

import os
from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The real benchmark data: ``FDMVGCL_DATA``, else ``../shared/data``. Without it a test skips, or fails in CI."""
    root = Path(os.environ.get("FDMVGCL_DATA") or SHARED_DATA)
    if root.is_dir():
        return root
    reason = f"no benchmark data at {root}; set FDMVGCL_DATA"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
