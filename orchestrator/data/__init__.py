"""Data sets for classification, prepared once, for `contract.data_store` to open.

    catalogue.py      the data sets there are: classes, sums, sources       prepare.py   source → reader → folder
    sources.py        Debian's package, npm's package, the publisher        files.py     folders, tars and zips
    idx.py, cifar_binary.py, cifar_sheets.py, tiny_imagenet.py, tables.py   one format each

May import: `contract`, `pame`, `orchestrator.errors`; numpy; pillow inside the readers of pictures. Never pickle.
"""

from orchestrator.data.catalogue import CATALOGUE, TABLE
from orchestrator.data.prepare import prepare
from orchestrator.data.reading import DataRefused

__all__ = ["CATALOGUE", "TABLE", "DataRefused", "prepare"]
