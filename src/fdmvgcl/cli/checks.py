"""What was measured of a folder's answers: kept in it, and measured where it is not there yet."""

import contextlib
import warnings
from collections.abc import Callable, Sequence

from fdmvgcl.cli.answers import tell
from fdmvgcl.cli.console import Reporter
from fdmvgcl.errors import TooSmall
from fdmvgcl.evaluation.standing import Standing
from fdmvgcl.results.outputs import ResultFolder


def checked(
    folder: ResultFolder,
    name: str,
    doing: str,
    measure: Callable[[], Sequence[Standing]],
    reporter: Reporter,
    *,
    only_on_record: bool = False,
) -> list[Standing]:
    """Tell how good the answers of this name are; nothing but a remark where the graph is too small to say.

    With ``only_on_record`` nothing is measured that is not there yet.
    """
    try:
        found = [Standing.from_record(record) for record in folder.read_checks()[name]]
    except (KeyError, TypeError, ValueError, AttributeError):
        if only_on_record:
            reporter.remark("how good this is was not measured yet; the same command without --no-check does")
            return []
        try:
            with reporter.busy(doing), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of changed graphs and of copies of the model, which none asked for
                found = list(measure())
        except TooSmall as error:
            reporter.remark(f"how good this is was not measured: {error}")
            return []
        with contextlib.suppress(OSError):  # a folder that can only be read
            folder.write_checks(name, [each.record() for each in found])
    for each in found:
        tell(each, reporter)
    return found
