"""The exceptions: what they say, and that they survive a process boundary."""

from __future__ import annotations

import pickle

import pandas as pd
import pytest

from webanalytics import errors


def test_a_parameter_error_is_a_value_error_of_the_package() -> None:
    error = errors.ParameterError.one_of("encoding", ("hex", "base64"))
    assert isinstance(error, ValueError)
    assert isinstance(error, errors.WebAnalyticsError)
    assert error.parameter == "encoding"


def test_a_missing_extra_says_how_to_install_it() -> None:
    error = errors.MissingExtraError("parquet", "pyarrow", "writing Parquet files")
    assert isinstance(error, ImportError)
    assert 'in the clone, pip install ".[parquet]"' in str(error)


def test_an_interrupt_is_a_keyboard_interrupt_with_rows() -> None:
    error = errors.AuditInterrupted(pd.DataFrame({"url": ["a", "b"]}), 5)
    assert isinstance(error, KeyboardInterrupt)
    assert len(error.partial) == 2
    assert "2 of 5 rows" in str(error)


def test_a_row_error_pickles() -> None:
    error = pickle.loads(pickle.dumps(errors.RowError("unknown_host", parameter="url")))
    assert (error.sentence, error.error_type) == (
        "The `url` parameter names a host that does not exist.",
        "dns",
    )


@pytest.mark.parametrize(
    "kind",
    [
        "dns",
        "connection",
        "tls",
        "timeout",
        "robots",
        "http",
        "too_large",
        "not_html",
        "blocked",
        "invalid",
        "parse",
    ],
)
def test_error_type_is_known(kind: str) -> None:
    assert kind in errors.ERROR_TYPES


def test_errors_survive_a_process_boundary() -> None:
    error = pickle.loads(pickle.dumps(errors.ParameterError.one_of("encoding", ("hex",))))
    assert (str(error), error.parameter) == ("The `encoding` parameter must be one of: hex.", "encoding")
    interrupt = pickle.loads(pickle.dumps(errors.AuditInterrupted(pd.DataFrame({"url": ["a"]}), 3)))
    assert "1 of 3 rows" in str(interrupt)
    missing = pickle.loads(pickle.dumps(errors.MissingExtraError("excel", "openpyxl", "writing Excel files")))
    assert missing.extra == "excel"
