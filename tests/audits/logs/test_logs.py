"""Access logs of any server: nothing is lost, nothing is made up, and no address of a visitor is kept."""

from __future__ import annotations

import gzip
import json
import random
import socket
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import webanalytics as wa
from tests.audits.logs import writers
from webanalytics.audits.logs import reading

NAMES = st.text(st.characters(codec="utf-8", exclude_characters=" "), max_size=30)
AGENTS = st.text(st.characters(codec="utf-8"), max_size=40)


def read(folder: Path, text: str | bytes, name: str = "access.log", **given: Any) -> Any:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return wa.logs(path, **given)


def by_url(found: Any) -> dict[str, int]:
    counts: dict[str, int] = found.hits.groupby("url")["hits"].sum().to_dict()
    return counts


@settings(max_examples=100, deadline=None)
@given(st.sampled_from((writers.apache, writers.nginx)), NAMES, AGENTS)
def test_what_a_server_writes_is_read(escape: Any, name: str, agent: str) -> None:
    line = writers.combined(escape, f"/{name}", agent).encode()
    (row,) = reading.FORMATS["combined"].rows(line.removesuffix(b"\n"))
    assert reading.target(row[4], row[5]).decode() == writers.sent(f"/{name}")
    assert reading.unescaped(row[9]).decode() == ((escape(agent) and agent) or "-")


@pytest.mark.slow
def test_all_of_60000_lines_with_escapes(tmp_path: Path) -> None:
    made = random.Random(7)
    signs = "abc/\\\"üä\t[]'%&=+ \x01"
    lines, expected = [], dict[str, int]()
    for number in range(60_000):
        path = f"/p{number % 5000}" + "".join(made.choices(signs.replace(" ", ""), k=3))
        agent = "Mozilla/5.0 " + "".join(made.choices(signs, k=6)) + (" Googlebot/2.1" if number % 4 else "")
        escape = writers.apache if number % 2 else writers.nginx
        lines.append(writers.combined(escape, path, agent))
        expected[writers.sent(path)] = expected.get(writers.sent(path), 0) + 1
    found = read(tmp_path, "".join(lines))
    assert (found.lines, found.unread_lines) == (60_000, 0)
    assert by_url(found) == expected
    assert found.hits["hits"].sum() == 60_000 == found.days["hits"].sum()
    named = found.crawlers().set_index("crawler")["hits"]
    assert named["Googlebot"] == 45_000


IIS = """#Software: Microsoft Internet Information Services 10.0
#Version: 1.0
#Date: 2026-11-24 00:00:00
#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken
2026-11-24 00:00:05 10.0.0.1 GET /default.aspx id=7 443 - 203.0.113.9 Mozilla/5.0+(compatible;+bingbot/2.0;++http://www.bing.com/bingbot.htm) - 200 0 0 250
2026-11-24 23:59:59 10.0.0.1 GET / - 443 - 203.0.113.9 - - 304 0 0 15
#Software: Microsoft Internet Information Services 10.0
#Fields: date time cs-method cs-uri-stem sc-status sc-bytes cs(User-Agent)
2026-11-25 00:00:01 GET /new 404 99 GPTBot/1.2
2026-11-25 00:00:01 GET /cut
"""
CLOUDFRONT = """#Version: 1.0
#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken
2026-12-04\t21:02:31\tLAX1\t392\t192.0.2.100\tGET\td111111abcdef8.cloudfront.net\t/index.html\t200\t-\tMozilla/5.0%20(compatible;%2520Googlebot/2.1)\ta=b\t-\tHit\tSOX4==\tshop.example\thttps\t23\t0.001
"""
ALB = """https 2026-11-24T23:39:43.945958Z app/my-lb/50dc6 192.168.131.39:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 "GET https://shop.example:443/tea?x=1 HTTP/1.1" "ClaudeBot/1.0 \\x22quoted\\x22" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:x "Root=1-58337281" "shop.example" "arn" 1 2026-11-24T22:22:48.364000Z "authenticate,forward" "-" "-" "10.0.0.1:80" "200" "-" "-"
http 2026-11-24T23:59:00.000000Z app/my-lb/50dc6 2001:db8::7:2817 - -1 -1 -1 400 - 0 57 "- http://shop.example:80- -" "-" - - - "-" "-" "-" - 2026-11-24T22:22:48.364000Z "-" "-" "-" "-" "-" "-" "-"
"""
TRAEFIK = json.dumps(
    {
        "ClientAddr": "203.0.113.4:5",
        "ClientHost": "203.0.113.4",
        "DownstreamContentSize": 12,
        "DownstreamStatus": 200,
    }
    | {
        "Duration": 2_000_000,
        "RequestHost": "shop.example",
        "RequestMethod": "GET",
        "RequestPath": '/a"b\\c?d=1',
    }
    | {
        "StartUTC": "2026-11-24T09:00:00.123456789Z",
        "request_User-Agent": "PerplexityBot/1.0",
        "level": "info",
    }
)


def test_the_log_of_iis(tmp_path: Path) -> None:
    found = read(tmp_path, IIS.replace("\n", "\r\n"), "u_ex261124.log")
    assert found.hits[["url", "crawler", "status", "first"]].values.tolist() == [
        ["/default.aspx?id=7", "Bingbot", 200, "2026-11-24"],
        ["/", "", 304, "2026-11-24"],
        ["/new", "GPTBot", 404, "2026-11-25"],
    ]
    assert found.hits["seconds"].tolist()[:2] == [0.25, 0.015]
    assert found.hits["bytes"].tolist() == [0, 0, 99]
    assert found.unread.values.tolist() == [["u_ex261124.log", 10, "not of the format w3c"]]


def test_the_log_of_cloudfront_in_gz(tmp_path: Path) -> None:
    found = read(tmp_path, gzip.compress(CLOUDFRONT.encode()), "E2.2026-12-04-21.gz")
    row = found.hits.iloc[0]
    assert row["url"] == "https://shop.example/index.html?a=b"
    assert (row["crawler"], row["bytes"], row["seconds"]) == ("Googlebot", 392, 0.001)


def test_cloudfront_escapes_addresses_once_more(tmp_path: Path) -> None:
    """AWS: CloudFront escapes the signs 0 to 32, 127 and above, and < > " # % { | } \\ ^ ~ [ ` ] ' in its logs."""
    asked = ["/green%20tea", "/caf%C3%A9,%2C", "/100%2525", "/plain"]
    lines = [CLOUDFRONT.replace("/index.html", path.replace("%", "%25")) for path in asked]
    lines = [line.replace("a=b", "q=%25C3%25BC") for line in lines]
    found = read(tmp_path, "".join(lines))
    assert found.hits["url"].tolist() == [f"https://shop.example{path}?q=%C3%BC" for path in asked]


def test_the_log_of_a_load_balancer(tmp_path: Path) -> None:
    found = read(tmp_path, ALB, keep_addresses=True)
    assert found.unread_lines == 0
    assert found.hits["url"].tolist() == ["https://shop.example:443/tea?x=1", ""]
    assert found.hits["crawler"].tolist() == ["ClaudeBot", ""]
    assert found.hits["address"].tolist() == ["192.168.131.39", "2001:db8::7"]
    assert found.hits["bytes"].tolist() == [57, 57]


def test_the_log_of_traefik_in_zst(tmp_path: Path) -> None:
    found = read(tmp_path, zstandard.compress(TRAEFIK.encode()), "access.log.zst")
    row = found.hits.iloc[0]
    assert row["url"] == "https://shop.example/a%22b\\c?d=1"
    assert (row["crawler"], row["purpose"], row["seconds"]) == ("PerplexityBot", "ai search", 0.002)


def test_lines_that_are_none_are_told(tmp_path: Path) -> None:
    good = writers.combined(writers.apache, "/a", "x")
    lines = [
        good,
        "\n",
        "nonsense 203.0.113.5\n",
        good.replace("24/Nov", "99/Nov"),
        "www.shop.example:443 " + good,
    ]
    found = read(tmp_path, "".join([*lines, good[:40]]))
    assert found.unread[["line", "reason"]].values.tolist() == [
        [4, "no time or status that is known"],
        [2, "empty"],
        [3, "not of the format combined"],
        [6, "not of the format combined"],
    ]
    assert (found.lines, found.unread_lines, found.hits["hits"].sum()) == (6, 4, 2)
    assert set(found.hits["url"]) == {"/a", "https://www.shop.example/a"}


def test_no_address_of_a_visitor_is_kept(tmp_path: Path) -> None:
    text = (
        "".join(writers.combined(writers.apache, f"/{number}", "x") for number in range(3))
        + "192.0.2.7 broken"
    )
    found = read(tmp_path, text)
    shown = repr(found) + "".join(
        table.to_csv() for table in (found.hits, found.days, found.unread, found.crawlers())
    )
    assert "192.0.2" not in shown + repr(vars(found))
    assert read(tmp_path, text, keep_addresses=True).hits["address"].tolist() == ["192.0.2.7"] * 3


def test_days_are_in_utc_whatever_the_zone(tmp_path: Path) -> None:
    times = {"31/Dec/2026:23:30:00 -0100": "2027-01-01", "01/Jan/2027:00:30:00 +0530": "2026-12-31"}
    for time, day in times.items():
        found = read(tmp_path, writers.combined(writers.apache, "/", "x", time=time))
        assert found.days["day"].tolist() == [day]


def test_over_a_million_rows_addresses_are_summed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST", 10)
    lines = [
        writers.combined(writers.apache, f"/{number}{'?a=1' * (number % 2)}", f"{number}bot")
        for number in range(50)
    ]
    found = read(tmp_path, "".join(lines))
    assert found.hits["hits"].sum() == 50
    assert found.summed_hits == 40
    assert found.hits.set_index("url").loc[["/…", "/…?"], "hits"].sum() == 40
    assert len(found.hits) == 12


def test_a_file_that_ends_in_its_middle_keeps_what_it_has(tmp_path: Path) -> None:
    text = "".join(writers.combined(writers.apache, f"/{random.random()}", "x") for _ in range(100_000))
    whole = gzip.compress(text.encode())
    found = read(tmp_path, whole[: len(whole) // 2], "access.log.gz")
    assert 0 < found.lines < 100_000
    assert found.unread["reason"].tolist()[-1] == "the file cannot be read from here on"


def test_a_line_without_end_takes_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "BLOCK", 1000)
    monkeypatch.setattr(reading, "LONGEST", 500)
    good = writers.combined(writers.apache, "/a", "x")
    found = read(tmp_path, good + "x" * 20_000 + "\n" + good)
    assert (found.lines, found.unread_lines, found.hits["hits"].sum()) == (3, 1, 2)


def test_several_files_and_formats(tmp_path: Path) -> None:
    (tmp_path / "access.log").write_text(writers.combined(writers.apache, "/a", "x"))
    (tmp_path / "access.log.1").write_text(TRAEFIK + "\n")
    (tmp_path / "access.log.2").write_text("")
    assert wa.logs(str(tmp_path / "access.log*")).lines == 2
    assert wa.logs([tmp_path / "access.log", tmp_path / "access.log.1"]).lines == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"source": "no-such-file*"}, "source"),
        ({"source": 7}, "source"),
        ({"source": []}, "source"),
        ({"format": "elf"}, "format"),
        ({"verify": "yes"}, "verify"),
        ({}, "format"),
    ],
)
def test_a_wrong_call_is_refused(given: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = tmp_path / "error.log"
    path.write_text("[error] 7#7: something went wrong\n")
    with pytest.raises(wa.ParameterError, match=f"`{said}`"):
        wa.logs(**({"source": path} | given))


PROGRAMS = {
    # as their operators publish them
    "AdsBot-Google (+http://www.google.com/adsbot.html)": "adsbot",
    "APIs-Google (+https://developers.google.com/webmasters/APIs-Google.html)": "APIs-Google",
    "FeedFetcher-Google; (+http://www.google.com/feedfetcher.html)": "FeedFetcher-Google",
    "Mediapartners-Google": "Mediapartners-Google",
    "Mozilla/5.0 (compatible; Google-InspectionTool/1.0;)": "Google-InspectionTool",
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)": "facebookexternalhit",
    "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)": "Slackbot-LinkExpanding",
    "Mozilla/5.0 (compatible; YandexImages/3.0; +http://yandex.com/bots)": "YandexImages",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.9; rv:28.0) Gecko/20100101 Firefox/28.0 "
    "(FlipboardProxy/1.1; +http://flipboard.com/browserproxy)": "FlipboardProxy",
    "findlinks/1.1.6-beta1 (+http://wortschatz.uni-leipzig.de/findlinks/)": "findlinks",
    "WhatsApp/2.19.244 A": "WhatsApp",
    "Apache-HttpClient/4.5.13 (Java/11.0.13)": "Apache-HttpClient",
    "curl/8.5.0": "curl",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/120.0.0.0 "
    "Safari/537.36": "HeadlessChrome",
}
LIGHTHOUSE = (
    "Mozilla/5.0 (Linux; Android 11; moto g power (2022)) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/119.0.0.0 Mobile Safari/537.36 Chrome-Lighthouse"
)
BROWSERS = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 [FBAN/FBIOS;FBAV/436.0]",
    "Mozilla/5.0 (Linux; Android 11; CUBOT_X18) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/99.0 Mobile Safari/537.36",
    "Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.1; Trident/6.0)",
    "Mozilla/5.0 (compatible; Konqueror/4.5; Linux) KHTML/4.5.4 (like Gecko)",
    "Opera/9.80 (Windows NT 6.1; U; en) Presto/2.7.62 Version/11.01",
    "Shop/3.2.1 (iPhone; iOS 17.0; Scale/3.00)",
    "News/1.0 CFNetwork/1404.0.5 Darwin/22.3.0",
    "",
]


def test_programs_are_no_people(tmp_path: Path) -> None:
    lines = [writers.combined(writers.apache, "/", agent) for agent in [*PROGRAMS, *BROWSERS]]
    lines.append(writers.combined(writers.apache, "/", next(iter(PROGRAMS)).replace(" ", "+")))
    lines.append(writers.combined(writers.apache, "/", LIGHTHOUSE))
    found = read(tmp_path, "".join(lines)).crawlers()
    assert found[found["purpose"] == "seo"]["crawler"].tolist() == ["Chrome-Lighthouse"]
    told = found[found["purpose"] == "other bot"].set_index("crawler")["hits"].to_dict()
    assert told == dict.fromkeys(PROGRAMS.values(), 1) | {"adsbot": 2}
    assert found.set_index("purpose").loc["people", "hits"] == len(BROWSERS)


def test_crawlers_are_verified_by_published_ranges(tmp_path: Path) -> None:
    folder = tmp_path / "ranges"
    folder.mkdir()
    prefixes = [{"ipv4Prefix": "66.249.64.0/27"}, {"ipv6Prefix": "2001:4860:4801:10::/64"}]
    folder.joinpath("googlebot.json").write_text(
        json.dumps({"creationTime": "2026-11-20", "prefixes": prefixes})
    )
    agents = {
        "66.249.64.5": "Googlebot/2.1",
        "2001:4860:4801:10::7": "Googlebot/2.1",
        "::ffff:66.249.64.6": "Googlebot/2.1",  # as servers write IPv4 that listen for both
        "203.0.113.1": "Googlebot/2.1",
    }
    agents |= {"203.0.113.2": "bingbot/2.0", "203.0.113.3": "Mozilla/5.0"}
    lines = [
        writers.combined(writers.apache, "/", agent).replace("192.0.2.7", ip) for ip, agent in agents.items()
    ]
    found = read(tmp_path, "".join(lines), verify=folder)
    told = found.crawlers().set_index("crawler")["pretended"]
    assert (told["Googlebot"], pd.isna(told["Bingbot"]), pd.isna(told[""])) == (1, True, True)
    folder.joinpath("gptbot.json").write_text("[]")
    with pytest.raises(wa.ParameterError, match=r"gptbot\.json"):
        read(tmp_path, "".join(lines), verify=folder)


def test_crawlers_are_verified_by_name_and_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {
        "66.249.66.1": "crawl-66-249-66-1.googlebot.com",
        "203.0.113.1": "crawl-66-249-66-1.googlebot.com",  # anybody may name his address so
        "203.0.113.2": "googlebot.com.evil.example",
        "203.0.113.3": "evilgooglebot.com",
    }
    mapped = "::ffff:66.249.66.1"  # RFC 4291, section 2.5.5.2
    addresses = {"crawl-66-249-66-1.googlebot.com": "66.249.66.1"}
    asked: list[str] = []

    def reverse(address: str) -> tuple[str, list[str], list[str]]:
        asked.append(address)
        if address == "203.0.113.9":
            raise socket.herror(2, "Host name lookup failure")
        if address not in names:
            raise socket.herror(1, "Unknown host")
        return names[address], [], [address]

    def forward(name: str, _port: object) -> list[Any]:
        return [(2, 1, 6, "", (addresses[name], 0))]

    monkeypatch.setattr(socket, "gethostbyaddr", reverse)
    monkeypatch.setattr(socket, "getaddrinfo", forward)
    hosts = [*names, "203.0.113.8", "203.0.113.9", "66.249.66.1", mapped]
    lines = [
        writers.combined(writers.apache, f"/{host}", "Googlebot/2.1").replace("192.0.2.7", host, 1)
        for host in hosts
    ]
    lines.append(writers.combined(writers.apache, "/people", "Mozilla/5.0"))
    found = read(tmp_path, "".join(lines), verify="dns").hits.set_index("url")["verified"]
    assert found.astype(object).where(found.notna(), "unknown").to_dict() == {
        "/66.249.66.1": True,
        f"/{mapped}": True,
        "/203.0.113.1": False,
        "/203.0.113.2": False,
        "/203.0.113.3": False,
        "/203.0.113.8": False,
        "/203.0.113.9": "unknown",
        "/people": "unknown",
    }
    assert sorted(asked) == sorted([*names, "203.0.113.8", "203.0.113.9", "66.249.66.1"]), (
        "each address is looked up once, and none of people"
    )


def test_crawlers_counts_what_is_wasted(tmp_path: Path) -> None:
    asked = [("/a", 200), ("/a?x=1", 200), ("/old", 301), ("/gone", 404), ("/gone?x", 500), ("/b", 304)]
    found = read(
        tmp_path,
        "".join(writers.combined(writers.apache, path, "Googlebot", status=code) for path, code in asked),
    )
    row = found.crawlers().iloc[0]
    assert row[["hits", "urls", "redirects", "errors", "parameters"]].tolist() == [6, 6, 1, 2, 2]
    assert row["wasted"] == pytest.approx(4 / 6)
    assert found.summary()["purpose"].tolist() == ["search"]
    assert "Googlebot" in repr(found)
    assert "67" in repr(found)


def test_times_that_nobody_took_count_for_none(tmp_path: Path) -> None:
    """AWS: "This value is set to -1 if the load balancer can't dispatch the request to a target."."""
    line = (
        "https 2026-11-24T00:00:05.123456Z app/my-lb/50dc6c495c0c9188 192.0.2.7:2817 {} 0.000 {} 0.000 {} 200 34 "
        '366 "GET https://shop.example:443{} HTTP/1.1" "Mozilla/5.0" - - arn "-" "-" "-" 0 t "-" "-" "-" "-"\n'
    )
    answers = [("/a", "-", "-1", 200), ("/a", "10.0.0.1:80", "0.4", 200), ("/b", "10.0.0.1:80", "0.1", 200)]
    found = read(tmp_path, "".join(line.format(to, took, code, url) for url, to, took, code in answers))
    assert found.hits["seconds"].tolist() == [0.4, 0.1]
    assert found.crawlers()["seconds"].tolist() == [pytest.approx(0.25)], (
        "the mean of the two that were timed"
    )
