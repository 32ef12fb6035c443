"""``webanalytics watch``: one run of a schedule, which tells what changed and is quiet otherwise.

Exit status: 0 nothing new; 1 something was told; 2 the call or its file is wrong; 3 nothing could be fetched;
4 a message could not be handed over, and waits in the folder for the next run.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pandas as pd

import webanalytics
from webanalytics import sync
from webanalytics._version import how_to_install
from webanalytics.audits.audit import Audit
from webanalytics.audits.compare.comparison import Comparison
from webanalytics.audits.compare.fields import FOLLOWS, may_change
from webanalytics.audits.history import folder as folders
from webanalytics.audits.history import messages
from webanalytics.audits.history.alerts import OPTIONS, View, grouped, judge
from webanalytics.audits.history.history import History, periods
from webanalytics.audits.moves.landing import planned_in
from webanalytics.audits.rules import RULES
from webanalytics.audits.storage.folders import reading
from webanalytics.cli.access_files import PLACES
from webanalytics.cli.flags import add_command
from webanalytics.core.run_options import RECORDS
from webanalytics.core.strings import one_line
from webanalytics.core.url_patterns import matching
from webanalytics.errors import ParameterError
from webanalytics.files import claim, written_whole
from webanalytics.runs.storage.store import is_address
from webanalytics.thresholds import PRIORITIES

STATE = ".watch.json"
AGAIN = 100
"""Pages that are read once more: changed ones, to tell a change from a counter, and those not found."""
SOURCES: dict[str, type] = {"start": str, "sitemap": str, "urls": list}
KINDS: dict[str, type] = (
    SOURCES | dict.fromkeys(("name", "history", "probe", "thin"), str) | {"options": dict}
)
TABLES = ("alert", "to")
WORDS: dict[type, str] = {str: "text", list: "a list", dict: "a table"}


def add_watch(commands: Any) -> None:
    """Add the sub-command ``watch``."""
    parser = add_command(commands, "watch", "Exit status 1: something was told; 3: nothing answered.")
    parser.add_argument("config", metavar="CONFIG", help="TOML file")
    parser.add_argument("--init", action="store_true", help="write an example to CONFIG, and do nothing else")
    parser.set_defaults(run=run_watch)


def run_watch(arguments: argparse.Namespace) -> int:
    """Run the sub-command ``watch``."""
    path = Path(arguments.config)
    if not arguments.init:
        return watch(path)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(files("webanalytics.cli").joinpath("watch.toml").read_text("utf-8"))
    except OSError as error:
        raise _wrong("config", f"be a file that can be made: {error.strerror}") from None
    return 0


def _wrong(name: str, what: str) -> ParameterError:
    return ParameterError.on(name, f"must {what}")


def read_config(path: Path) -> dict[str, Any]:
    """Return what a file says, checked before any work; paths in it are beside it."""
    try:
        config = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError):  # its text is not shown: it may hold what is secret
        raise _wrong("config", "be a TOML file that can be read") from None
    for name, value in config.items():
        if name not in {*KINDS, *TABLES}:
            raise _wrong("config", f"not have {name!r}")
        rows = value if isinstance(value, list) else [None]
        if (
            not all(isinstance(row, dict) for row in rows)
            if name in TABLES
            else type(value) is not KINDS[name]
        ):
            raise _wrong(name, "be " + ("a list of tables" if name in TABLES else WORDS[KINDS[name]]))
    if not config.get("history") or sum(name in config for name in SOURCES) != 1:
        raise _wrong("config", f"have `history`, and one of {', '.join(SOURCES)}")
    if is_address(config["history"]):  # a run locks it, and keeps what it knows there
        raise _wrong("history", "be a folder on this machine")
    folder = path.parent
    periods(config.get("thin", "daily after 1 day"), "thin")
    own = "extract" in config.get("options", {})  # columns that nobody knows before the run
    alerts = [_alert(alert, folder, own) for alert in config.get("alert", ())]
    to = [messages.checked(one, folder) for one in config.get("to", [{"kind": "stdout"}])]
    options = {name: _option(name, value) for name, value in config.get("options", {}).items()}
    return {**config, "history": folder / config["history"], "alert": alerts, "to": to, "options": options}


def _alert(alert: Mapping[str, Any], folder: Path, own: bool) -> dict[str, Any]:
    known = OPTIONS.get(str(alert.get("when")))
    if known is None:
        raise _wrong("alert", f"have a `when`: {', '.join(OPTIONS)}")
    made = {"segment": "", "runs": "1 of 1", **known, **alert}
    runs = re.fullmatch(r"([1-9]\d?) of ([1-9]\d?)", str(made["runs"]))
    wrong = made.keys() - {"when", "segment", "runs", *known}
    wrong |= {name for name in known if type(made[name]) not in (type(known[name]), float)}
    wrong |= {"runs"} if runs is None or int(runs[1]) > int(runs[2]) else set()
    known_values = {"priority": ("", *PRIORITIES), "rule": ("", *RULES)}
    wrong |= {name for name, values in known_values.items() if made.get(name, "") not in values}
    wrong |= {"segment"} - {name for name in made if isinstance(made[name], str)}
    wrong |= {"field"} if "field" in known and not (own or may_change(str(made["field"]))) else set()
    wrong |= {name for name in known if type(made[name]) in (int, float) and not made[name] > 0}
    if wrong or runs is None:
        raise _wrong("alert", f"have no such {min(wrong)!r} where `when` is {made['when']}")
    matching(made["segment"] or "*", "segment")
    if made["when"] == "certificate" and not all(map(find_spec, ("dns", "cryptography"))):
        raise _wrong("alert", f"be without `certificate`, which needs {how_to_install('dane')}")
    made |= {"plan": str(folder / made["plan"])} if "plan" in made else {}
    if not Path(made.get("plan", __file__)).is_file():
        raise _wrong("alert", "have a `plan` that is a file")
    if "plan" in made:
        planned_in(made["plan"])
    return made | {"of": [int(runs[1]), int(runs[2])]}


def _option(name: str, value: Any) -> Any:
    try:
        return PLACES[name][1](value) if name in PLACES else value
    except argparse.ArgumentTypeError as error:
        raise _wrong(name, f"be right: {error}") from None


def watch(path: Path, now: datetime | None = None) -> int:
    """Do one run, and return the exit status."""
    config = read_config(path)
    history = History(config["history"])
    history.folder.mkdir(parents=True, exist_ok=True)
    with (history.folder / ".watch.lock").open("wb") as lock:
        if not claim(lock):
            raise _wrong("history", "be a folder that no other run is using")
        return _run(config, history, (now or datetime.now(UTC)).isoformat(timespec="seconds"))


def _run(config: Mapping[str, Any], history: History, date: str) -> int:
    path, title = history.folder / STATE, one_line(str(config.get("name", config["history"].name)))
    state: dict[str, Any] = {"baseline": "", "outage": "", "items": [], "outbox": []}
    if path.exists():
        with reading(folders.store_of(history.folder), "history"):
            state |= json.loads(path.read_text("utf-8"))
    audit, why = _audited(config, date)
    outage = {"alert": "", "what": "nothing could be fetched", "where": title, "said": why or state["outage"]}
    told, resolved = (
        [outage] * bool(why and not state["outage"]),
        [outage] * bool(state["outage"] and not why),
    )
    state["outage"] = why
    if audit is not None:
        run = folders.append(audit, history.folder)
        before = history.load(state["baseline"]) if state["baseline"] else None
        state["items"], new, over = judge(
            config["alert"], _view(config, audit, before, state["items"]), state["items"]
        )
        told, resolved = told + new, resolved + over
        state["baseline"] = run["date"] if run["good"] else state["baseline"]
    recipients: dict[str, Any] = {}
    for to in config["to"]:  # "mail", "mail 2": the same whatever stands between them
        like = sum(other["kind"] == to["kind"] for other in recipients.values())
        recipients[f"{to['kind']} {like + 1}" if like else to["kind"]] = to
    if told or resolved:
        made = messages.message(title, date, grouped(told), grouped(resolved))
        state["outbox"] += [{"to": name, "message": made} for name in recipients]

    def keep() -> None:
        with written_whole(path, durable=True, mode=0o600) as temporary:
            temporary.write_text(json.dumps(state), "utf-8")

    keep()  # from here on nothing is lost, and nothing is judged twice
    private = bool(config["options"].get("allow_private"))
    failed = messages.deliver(state["outbox"], recipients, keep, private=private)
    for said in failed:
        print(f"webanalytics: {said}", file=sys.stderr)
    if config.get("thin"):
        history.thin(config["thin"])
    return 4 if failed else 3 if why else 1 if told else 0


def _audited(config: Mapping[str, Any], date: str) -> tuple[Audit | None, str]:
    options = {"progress": False} | config["options"]
    try:
        if "start" in config:
            audit = sync.crawl(config["start"], **options)
        else:
            audit = sync.audit(config.get("urls"), sitemap=config.get("sitemap"), **options)
    except ParameterError as error:
        if error.parameter != "sitemap" or "sitemap" not in config:
            raise
        return None, str(error)
    probe = [config["probe"]] if "probe" in config else []
    if not audit.raw["http_status"].notna().any():
        answers = probe and sync.audit(probe, **_of_pages(config)).raw["http_status"].notna().any()
        if not answers:  # else the fault is the site's
            return None, str([*audit.raw["error"].dropna(), "There is no page."][0])
    return Audit(audit, replace(audit.origin, date=date)), ""


def _of_pages(config: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: value for name, value in config["options"].items() if name in RECORDS and name != "store"}
    return {"progress": False} | known


def _view(
    config: Mapping[str, Any], audit: Audit, before: Audit | None, items: Sequence[Mapping[str, Any]]
) -> View:
    """Return the audit beside the last good one, with what else the alerts need."""
    since = None if before is None else Comparison(before, audit)
    named = {alert["field"] for alert in config["alert"] if "field" in alert} - {"robots.txt"}
    fields = named.union(*(FOLLOWS.get(name, ()) for name in named))
    if since is not None and since.changes["field"].isin(fields).any():
        urls = since.changes.loc[since.changes["field"].isin(fields), "url"].unique()[:AGAIN].tolist()
        since = Comparison(since.before, audit, Audit(sync.audit(urls, **_of_pages(config))))
    asked: dict[str, pd.DataFrame] = {}
    for plan in {alert["plan"] for alert in config["alert"] if alert["when"] == "redirects"}:
        asked[plan] = sync.check_redirects(plan, **_of_pages(config))
    if any(alert["when"] == "certificate" for alert in config["alert"]):
        hosts = {urlsplit(url).netloc for url in audit.judged().rows}
        private = bool(config["options"].get("allow_private"))
        asked["certificate"] = webanalytics.certificates(sorted(hosts), allow_private=private)
    view = View(audit, since, asked)
    told = [item["where"] for item in items if item["what"] == "lost"]
    if any(alert["when"] == "lost" for alert in config["alert"]) and (urls := view.absent(told)[:AGAIN]):
        view.look_at(Audit(sync.audit(urls, **_of_pages(config))).judged())
    return view
