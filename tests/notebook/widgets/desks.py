"""Desks for tests: made, filled in and run."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

import ipywidgets
import pandas as pd

from webanalytics.notebook.desk.desk import AuditDesk, app


def desk_for(urls: list[str], *operations: str) -> AuditDesk:
    desk = app(urls)
    desk.form.flags["allow_private"].value = True
    for name, box in desk.form.operations.items():
        box.value = not operations or name in operations
    return desk


def run(desk: AuditDesk) -> pd.DataFrame:
    desk.form.run.click()
    assert desk.join(60)
    assert desk.frame is not None, desk.message
    return desk.frame


def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.01)


def upload(desk: AuditDesk, name: str, content: bytes, field: str = "upload") -> None:
    file = {"name": name, "type": "", "size": len(content), "content": memoryview(content)}
    getattr(desk.form, field).value = ({**file, "last_modified": datetime.now(UTC)},)


def widgets_of(box: ipywidgets.Widget) -> list[ipywidgets.Widget]:
    return [box, *(inner for child in getattr(box, "children", ()) for inner in widgets_of(child))]
