"""The file of a watch, its example, and the schedules that the guide shows."""

from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

import webanalytics
from tests.audits.history.nights import Watch, page, site
from webanalytics.audits.history.alerts import OPTIONS
from webanalytics.cli import main
from webanalytics.cli.watch import read_config, watch
from webanalytics.errors import ParameterError
from webanalytics.fetching.testing import Reply, SiteServer

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs/guides/over-time.md").read_text("utf-8")


def test_the_example_is_a_file_that_can_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "site.toml"
    assert main(["watch", str(path), "--init"]) == 0
    config = read_config(path)
    assert [alert["when"] for alert in config["alert"]] == ["issues", "noindex", "lost", "down", "changed"]
    assert config["history"] == tmp_path / "history"
    uncommented = re.sub(r"(?m)^# (?=\[\[to|\w+ = )", "", path.read_text("utf-8"))
    assert [to["kind"] for to in tomllib.loads(uncommented)["to"]] == ["stdout", "slack", "mail"]
    assert all(name in path.read_text("utf-8") and f"`{name}`" in GUIDE for name in OPTIONS)
    assert main(["watch", str(path), "--init"]) == 2, "a file that is there stays"
    assert read_config(path) == config


GOOD = 'history = "h"\nurls = ["https://a.example/"]\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("history = ", "TOML file"),
        ('history = "h"\n', "one of start, sitemap, urls"),
        (GOOD + 'start = "https://a.example/"\n', "one of start, sitemap, urls"),
        ("hystory = 1\n" + GOOD, "not have 'hystory'"),
        (GOOD + '[[alert]]\nwhen = "noidnex"\n', "have a `when`: issues, noindex"),
        (GOOD + '[[alert]]\nwhen = "noindex"\ndays = 3\n', "no such 'days'"),
        (GOOD + '[[alert]]\nwhen = "slow"\nseconds = "3"\n', "no such 'seconds'"),
        (GOOD + '[[alert]]\nwhen = "lost"\nruns = "3 of 2"\n', "no such 'runs'"),
        (GOOD + '[[alert]]\nwhen = "score"\nby = -5\n', "no such 'by'"),
        (GOOD + '[[alert]]\nwhen = "changed"\nfield = "titel"\n', "no such 'field'"),
        (GOOD + '[[alert]]\nwhen = "issues"\npriority = "urgent"\n', "no such 'priority'"),
        (GOOD + '[[alert]]\nwhen = "lost"\nsegment = "("\n', "segment"),
        (GOOD + '[[alert]]\nwhen = "lost"\nsegment = 5\n', "no such 'segment'"),
        (GOOD + '[[alert]]\nwhen = "issues"\nrule = "title_mising"\n', "no such 'rule'"),
        ('alert = ["noindex"]\n' + GOOD, "`alert` parameter must be a list of tables"),
        ('to = "slack"\n' + GOOD, "`to` parameter must be a list of tables"),
        ("options = 5\n" + GOOD, "`options` parameter must be a table"),
        ('history = 5\nurls = ["https://a.example/"]\n', "`history` parameter must be text"),
        (
            'history = "s3://a/b"\nurls = ["https://a.example/"]\n',
            "`history` parameter must be a folder on this machine",
        ),
        ('history = ""\nurls = ["https://a.example/"]\n', "have `history`"),
        (GOOD + '[[to]]\nkind = "file"\npath = 5\n', "text in one line as its path"),
        (GOOD + '[[alert]]\nwhen = "redirects"\nplan = "none.csv"\n', "`plan` that is a file"),
        ('thin = "now and then"\n' + GOOD, "`thin` parameter"),
        (GOOD + '[[to]]\nkind = "slack"\nurl = "$NOT_THERE"\n', "NOT_THERE"),
    ],
)
def test_a_wrong_file_is_refused_before_any_work(
    tmp_path: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "site.toml"
    path.write_text(text)
    assert main(["watch", str(path)]) == 2
    assert said in capsys.readouterr().err
    assert [item.name for item in tmp_path.iterdir()] == ["site.toml"]


@pytest.mark.parametrize("field", ["robots.txt", "header:vary", "og:title", "priceCurrency", "indexability"])
def test_fields_whose_changes_are_told(field: str, tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text(f'{GOOD}[[alert]]\nwhen = "changed"\nfield = "{field}"\n')
    assert read_config(tmp_path / "site.toml")["alert"][0]["field"] == field
    own = f'{GOOD}[options.extract]\nsku = ".sku"\n[[alert]]\nwhen = "changed"\nfield = "sku"\n'
    (tmp_path / "site.toml").write_text(own)
    assert read_config(tmp_path / "site.toml")["alert"][0]["field"] == "sku"


def test_a_wrong_plan_is_refused_before_any_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    watched = Watch(tmp_path, '[[alert]]\nwhen = "redirects"\nplan = "plan.csv"\n')
    (tmp_path / "plan.csv").write_text("old,new\nhttps://a.example/,not an address\n")
    assert main(["watch", str(watched.config)]) == 2
    assert "names 'not an address', which is no address" in capsys.readouterr().err
    assert not (tmp_path / "history").exists()


def test_two_watches_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fcntl = pytest.importorskip("fcntl", reason="Windows has no such locks")
    watched = Watch(tmp_path, "")
    (tmp_path / "history").mkdir()
    with (tmp_path / "history" / ".watch.lock").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert main(["watch", str(watched.config)]) == 2
    assert "no other run is using" in capsys.readouterr().err


ALL = """
[[alert]]
when = "score"
by = 5
[[alert]]
when = "refused"
[[alert]]
when = "slow"
seconds = 0.4
[[alert]]
when = "sitemap"
[[alert]]
when = "issues"
priority = "high"
[[alert]]
when = "redirects"
plan = "plan.csv"
[[alert]]
when = "certificate"
days = 21
"""


@pytest.mark.slow
def test_the_other_conditions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = {"shop.example": 90}

    def certificates(hosts: list[str], *, allow_private: bool) -> pd.DataFrame:
        assert allow_private
        return pd.DataFrame(
            {"host": list(left), "port": 443, "status": "ok", "days_left": list(left.values())}
        )

    monkeypatch.setattr(webanalytics, "certificates", certificates, raising=False)
    watched = Watch(tmp_path, ALL, source='sitemap = "{url}/sitemap.xml"')
    (tmp_path / "plan.csv").write_text(f"old,new\n{watched.url}/old,{watched.url}/shop/p1\n")

    def pages(paths: list[str], changes: dict[str, object]) -> dict[str, object]:
        rows = "".join(f"<url><loc>{{{{origin}}}}{path}</loc></url>" for path in paths)
        sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'.encode()
        moved = Reply(301, {"Location": "/shop/p1"})
        return site({"/old": moved, "/sitemap.xml": sitemap, **changes})

    few = ["/shop/p1", "/shop/p2", "/shop/p3"]
    assert watched.run(pages(few, {})) == (0, [])
    left["shop.example"] = 12
    slow = Reply(200, {"Content-Type": "text/html"}, page("/shop/p1"), delay=0.6)
    bad = {"/shop/p1": slow, "/shop/p2": Reply(403), "/old": Reply(301, {"Location": "/shop/p3"})}
    assert watched.run(pages([*few, "/blog/b1"], bad)) == (
        1,
        [
            "new refused 1 (host 1)",
            "new sitemap 1 (sitemap 1)",
            "new no_internal_links 1 (/blog/* 1)",
            "new redirects 1 (/* 1)",
            "new certificate 1 (shop.example 1)",
        ],
    )
    worse = {path: page(path, title="", robots="noindex") for path in few}
    status, told = watched.run(pages([*few, "/blog/b1"], worse | {"/shop/p1": slow} | {"/old": bad["/old"]}))
    assert status == 1
    assert told[0] == "new score 1 (all pages 1)"
    assert {"new slow 1 (/shop/* 1)", "resolved refused 1 (host 1)"} <= set(told)
    took = [item["said"] for item in watched.state["items"] if item["what"] == "slow"]
    assert [len(said) <= len("0.65") for said in took] == [True], took
    assert any(said.startswith("new title_missing") for said in told), told
    left["shop.example"] = 89
    status, told = watched.run(pages([*few, "/blog/b1"], {}))
    assert status == 0
    assert {"resolved score 1 (all pages 1)", "resolved redirects 1 (/* 1)"} <= set(told)
    assert "resolved certificate 1 (shop.example 1)" in told
    assert watched.run(None)[0] == 3, "a sitemap that cannot be read"
    assert watched.run(None) == (3, [])


def test_a_probe_says_whose_fault_it_is(tmp_path: Path) -> None:
    down = '[[alert]]\nwhen = "down"\n'
    with SiteServer({"/": b"<title>Elsewhere"}) as elsewhere:
        watched = Watch(tmp_path, down, more=f'probe = "{elsewhere.url}/"')
        assert watched.run(site()) == (0, [])
        assert watched.run(None) == (1, ["new down 1 (host 1)"])
    assert watched.run(None) == (3, ["new nothing could be fetched 1 (Lamps 1)"])
    told = watched.run(site())[1]
    assert told == ["resolved nothing could be fetched 1 (Lamps 1)", "resolved down 1 (host 1)"]


def test_a_run_that_dies_after_it_was_kept_is_judged_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watch(tmp_path, '[[alert]]\nwhen = "noindex"\n')
    watched.run(site())
    changed = site({"/shop/p4": page("/shop/p4", robots="noindex")})
    with monkeypatch.context() as patched:
        patched.setattr("webanalytics.cli.watch.judge", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            watched.run(changed)
    assert watched.run(changed) == (1, ["new noindex 1 (/shop/* 1)"])
    (tmp_path / "history" / ".watch.json").write_text('{"baseline": ')
    with pytest.raises(ParameterError, match="unchanged"):
        watched.run(changed)


def test_a_rule_that_is_a_condition_too_is_told_once(tmp_path: Path) -> None:
    watched = Watch(tmp_path, '[[alert]]\nwhen = "noindex"\n[[alert]]\nwhen = "issues"\nrule = "noindex"\n')
    watched.run(site())
    assert watched.run(site({"/shop/p4": page("/shop/p4", robots="noindex")})) == (
        1,
        ["new noindex 1 (/shop/* 1)"],
    )
    assert watched.run(site()) == (0, ["resolved noindex 1 (/shop/* 1)"])


def test_a_price_that_changes_in_structured_data(tmp_path: Path) -> None:
    def shop(price: str) -> dict[str, Any]:
        offer = {"@type": "Offer", "price": price, "priceCurrency": "EUR"}
        product = json.dumps(
            {"@context": "https://schema.org", "@type": "Product", "name": "p4", "offers": offer}
        )
        script = f'<script type="application/ld+json">{product}</script>'.encode()
        return site({"/shop/p4": page("/shop/p4") + script})

    watched = Watch(tmp_path, '[[alert]]\nwhen = "changed"\nfield = "price"\n')
    assert watched.run(shop("10.00")) == (0, [])
    assert watched.run(shop("12.00")) == (1, ["new price 1 (/shop/* 1)"])
    assert watched.run(shop("12.00")) == (0, [])


def test_each_limit_is_an_alert_of_its_own_and_the_oldest_certificate_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nights = [[90, 90], [20, 90], [20, 90], [5, 90], [90, 6], [90, 90]]
    left = iter(nights)

    def certificates(hosts: list[str], **_: Any) -> pd.DataFrame:
        assert hosts == [watched.url.removeprefix("http://")]
        return pd.DataFrame([{"host": "shop.example", "days_left": days} for days in next(left)])

    monkeypatch.setattr(webanalytics, "certificates", certificates)
    alerts = "".join(f'[[alert]]\nwhen = "certificate"\ndays = {days}\n' for days in (30, 7))
    watched = Watch(tmp_path, alerts)
    told = [watched.run(site())[1] for _ in nights]
    new, over = "new certificate 1 (shop.example 1)", "resolved certificate 1 (shop.example 1)"
    assert told == [[], [new], [], [new], [], [over, over]]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


def test_the_schedules_of_the_guide(tmp_path: Path) -> None:
    (action,) = (yaml.safe_load(text) for text in blocks("yaml"))
    assert action[True]["schedule"][0]["cron"] == "20 2 * * *"  # YAML 1.1 reads the key `on` as true
    steps = [step.get("run", "") for step in action["jobs"]["watch"]["steps"]]
    assert "webanalytics watch shop.toml || [ $? -eq 1 ]" in steps
    for step in steps:
        assert subprocess.run(["bash", "-n", "-c", step]).returncode == 0
    fields = next(line for text in blocks("text") for line in text.splitlines()).split(maxsplit=5)
    assert [part == "*" or part.isdigit() for part in fields[:5]] == [True] * 5
    for text in blocks("ini"):
        path = tmp_path / Path(text.splitlines()[0].removeprefix("# ")).name
        path.write_text(text.replace("/usr/local/bin/webanalytics", "/bin/true"))
        parsed = configparser.ConfigParser(strict=True, interpolation=None)
        parsed.optionxform = str  # type: ignore[assignment, method-assign]
        parsed.read_string(text)
        assert "Unit" in parsed
        if shutil.which("systemd-analyze"):
            done = subprocess.run(
                ["systemd-analyze", "verify", "--man=no", str(path)], capture_output=True, text=True
            )
            assert (done.returncode, [line for line in done.stderr.splitlines() if path.name in line]) == (
                0,
                [],
            )
    assert watch.__module__ == "webanalytics.cli.watch"
