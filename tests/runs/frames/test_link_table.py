"""Links in a table: those that are added at once are those that are added one by one."""

from __future__ import annotations

from dataclasses import fields

from hypothesis import given
from hypothesis import strategies as st

from webanalytics.runs.frames.link_table import Link, LinkTable, LinkTableBuilder

addresses = st.sampled_from([f"https://a.example/{name}" for name in "abcde"])


def told(table: LinkTable) -> dict[str, list[object]]:
    return {field.name: list(getattr(table, field.name)) for field in fields(table)}


@given(pages=st.lists(st.tuples(addresses, st.lists(st.tuples(addresses, st.booleans()))), max_size=4))
def test_plain_links_are_those_that_have_nothing_else(
    pages: list[tuple[str, list[tuple[str, bool]]]],
) -> None:
    one_by_one, at_once = LinkTableBuilder(), LinkTableBuilder()
    for source, links in pages:
        one_by_one.add(source, [Link(target, rel=int(rel)) for target, rel in links])
        at_once.add_plain(source, [target for target, _ in links], [rel for _, rel in links])
        for table in (one_by_one, at_once):
            table.add(source, [Link(source, "home", fragment="top")])
    assert told(at_once.table()) == told(one_by_one.table())
