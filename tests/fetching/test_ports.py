"""The option `ports`: all by default, and for who names some no others, on the way of redirects either."""

from __future__ import annotations

import pytest

import webanalytics as wa
from webanalytics.cli import main
from webanalytics.fetching.testing import sample_site


def test_all_ports_by_default() -> None:
    assert wa.options.ports is None
    with sample_site() as site:
        page = wa.metadata(site.pages[0], allow_private=True, progress=False)
    assert page["status"].tolist() == ["ok"]


def test_only_those_that_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    with sample_site() as site:
        port = int(site.url.rsplit(":", 1)[1].strip("/"))
        given = {"allow_private": True, "progress": False}
        assert wa.metadata(site.pages[0], ports=[port, 443], **given)["status"].tolist() == ["ok"]
        refused = wa.metadata(site.pages[0], ports=(80, 443), **given)
        assert main(["metadata", site.pages[0], "--allow-private", "--ports", "80,443", "-f", "csv"]) == 1
    assert refused["error"].tolist() == ["The port is not allowed; use one of: 80, 443."]
    assert "use one of: 80, 443" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", [[], [0], [65_536], ["80"], "80", 80, [True], {80: 1}])
def test_anything_else_is_refused_before_any_work(wrong: object) -> None:
    with pytest.raises(wa.ParameterError, match="The `ports` parameter must be a list of integers from 1"):
        wa.metadata("https://a.example/", ports=wrong)  # type: ignore[arg-type]
