"""The writers of pandas that cannot take an audit as it is: lists and dicts get their declared types.

`audits.kept` puts them before those of pandas; all further arguments are theirs.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Any

import pandas as pd
from pandas.api.types import is_object_dtype

from webanalytics.errors import ParameterError
from webanalytics.frames.writing import arrow_of, flat, is_missing, put_cells

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NOT_IN_NAMES = re.compile(r"[^\w.-]|^(?=[\d.-])")
STATA_UNICODE = 118
"""The first version of Stata's format with Unicode; the one that pandas takes by default has none."""


class PandasWriters:
    """Writers of a frame of pages, as `pandas.DataFrame` has them."""

    def _as_plain(self) -> pd.DataFrame:
        whole: Any = self
        frame = pd.DataFrame(whole)
        frame.attrs = dict(whole.attrs)
        return frame

    def to_parquet(
        self,
        path: Any = None,
        *,
        engine: str = "auto",
        compression: str | None = "snappy",
        index: bool | None = None,
        partition_cols: list[str] | None = None,
        **kwargs: Any,
    ) -> bytes | None:
        """Write a Parquet file with the declared types; see `pandas.DataFrame.to_parquet`.

        Lists and dicts are lists, structs and maps of Parquet, free JSON such as ``jsonld`` is JSON text.
        ``webanalytics.Audit.save`` keeps an audit so that `webanalytics.load` returns an equal one.
        """
        if engine == "fastparquet":
            how: dict[str, Any] = {"compression": compression, "index": index, **kwargs}
            plain: Any = flat(self._as_plain())
            made: bytes | None = plain.to_parquet(path, engine=engine, partition_cols=partition_cols, **how)
            return made
        if kwargs.pop("storage_options", None) is not None:
            raise ParameterError(
                "The `storage_options` parameter must be left out; `filesystem` takes one of fsspec.",
                "storage_options",
            )
        table = arrow_of(self._as_plain(), index)
        import pyarrow.parquet as parquet

        file = io.BytesIO() if path is None else path
        kwargs["compression"] = "NONE" if compression is None else compression
        if partition_cols:
            parquet.write_to_dataset(table, file, partition_cols=list(partition_cols), **kwargs)
        else:
            parquet.write_table(table, file, **kwargs)
        return file.getvalue() if path is None else None

    def to_feather(self, path: Any, **kwargs: Any) -> None:
        """Write a Feather file with the declared types; see `pandas.DataFrame.to_feather`."""
        table = arrow_of(self._as_plain())
        from pyarrow import feather

        feather.write_feather(table, path, **kwargs)

    def to_orc(
        self, path: Any = None, *, engine_kwargs: Mapping[str, Any] | None = None, **kwargs: Any
    ) -> bytes | None:
        """Write an ORC file with the declared types; see `pandas.DataFrame.to_orc`."""
        table = arrow_of(self._as_plain(), kwargs.get("index"))
        from pyarrow import orc

        file = io.BytesIO() if path is None else path
        orc.write_table(table, file, **(engine_kwargs or {}))
        return file.getvalue() if path is None else None

    def to_sql(self, name: str, con: Any, **kwargs: Any) -> Any:
        """Write a table of a database, lists and dicts as JSON text; see `pandas.DataFrame.to_sql`."""
        return pd.DataFrame.to_sql(flat(self._as_plain()), name, con, **kwargs)

    def to_xml(self, path_or_buffer: Any = None, **kwargs: Any) -> Any:
        """Write an XML file, lists and dicts as JSON text; see `pandas.DataFrame.to_xml`."""
        table = flat(self._as_plain())
        table.columns = pd.Index([_NOT_IN_NAMES.sub("_", str(name)) for name in table.columns])
        for place in _texts(table):
            put_cells(table, place, map(_without_controls, table.iloc[:, place]))
        return pd.DataFrame.to_xml(table.copy(), path_or_buffer, **kwargs)

    def to_stata(self, path: Any, **kwargs: Any) -> None:
        """Write a file of Stata, lists and dicts as JSON text; see `pandas.DataFrame.to_stata`."""
        table = flat(self._as_plain())
        for place in _texts(table):
            put_cells(table, place, ("" if is_missing(value) else value for value in table.iloc[:, place]))
        pd.DataFrame.to_stata(table.copy(), path, **{"version": STATA_UNICODE} | kwargs)


def _texts(table: pd.DataFrame) -> list[int]:
    """Return the places of columns with texts."""
    return [
        place
        for place, dtype in enumerate(table.dtypes)
        if is_object_dtype(dtype) or isinstance(dtype, pd.StringDtype)
    ]


def _without_controls(value: Any) -> Any:
    """Return a text without what XML cannot hold (https://www.w3.org/TR/xml/#charsets)."""
    return _NOT_IN_XML.sub("", value) if isinstance(value, str) else value
