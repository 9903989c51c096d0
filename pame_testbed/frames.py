"""Tables as pandas frames; words that repeat are categories, so that labels of a million rows take no room."""

from typing import TYPE_CHECKING

from orchestrator.exports.column_table import ColumnTable
from orchestrator.exports.extra import needing_extra
from orchestrator.exports.run_tables import LABELS

if TYPE_CHECKING:
    import pandas as pd


def frame_of(table: ColumnTable) -> "pd.DataFrame":
    with needing_extra("frames"):
        import pandas as pd
    frame = pd.DataFrame(dict(table.columns))
    words = [name for name in LABELS if name in table.columns and table.columns[name].dtype == object]
    return frame.astype(dict.fromkeys(words, "category"))
