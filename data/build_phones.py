"""Convert the disposable-number list of npm's ``@ip1sms/disposable-phone-numbers`` for the package.

Usage, with the package unpacked into a folder (``npm pack @ip1sms/disposable-phone-numbers``)::

    python data/build_phones.py path/to/package

Writes ``phones.npz`` and ``phones.LICENSE.txt`` into ``webanalytics/page/data``.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
from pathlib import Path

import numpy as np

from webanalytics.records.phones.phone_list import EPOCH, PACKAGED_FILE, PhoneList, from_bytes, to_bytes

TARGET = Path(__file__).parents[1] / "webanalytics" / "analysis" / "data"
NOTICE = """phones.npz: phone numbers of disposable-number services and the date each was first seen.

Converted from number-list.json of the npm package {name} {version}
({homepage}), {count} numbers, by data/build_phones.py.
Nothing was added or left out. The package's licence follows.

"""


def build(package: Path) -> PhoneList:
    """Convert the list of an unpacked npm package; return what was written."""
    about = json.loads((package / "package.json").read_text("utf-8"))
    listed: dict[str, str] = json.loads((package / "number-list.json").read_text("utf-8"))
    days = {int(number): (dt.date.fromisoformat(date) - EPOCH).days for number, date in listed.items()}
    if len(days) != len(listed) or not all(number.isascii() and number.isdigit() for number in listed):
        raise SystemExit("the list holds something that is no number")
    numbers = sorted(days)
    phones = PhoneList(
        np.array(numbers, dtype=np.uint64),
        np.array([days[number] for number in numbers], dtype=np.int32),
        f"{about['name']} {about['version']}",
    )
    content = to_bytes(phones)
    TARGET.mkdir(exist_ok=True)
    (TARGET / PACKAGED_FILE).write_bytes(content)
    notice = NOTICE.format(
        name=about["name"], version=about["version"], homepage=about["homepage"], count=len(numbers)
    )
    licence = (package / "LICENSE").read_text("utf-8")
    (TARGET / "phones.LICENSE.txt").write_text(notice + licence, "utf-8")
    return from_bytes(content)


if __name__ == "__main__":
    written = build(Path(sys.argv[1]))
    print(f"{written.source}: {len(written)} numbers, {(TARGET / PACKAGED_FILE).stat().st_size} bytes")
