"""Pages of one account that hang do not hold up the pages of another."""

from __future__ import annotations

import asyncio

from tests.effort import BUSY_SECONDS
from tests.service.test_engine_failures import Evil, ask, http, open_engine
from tests.service.test_engine_failures import trouble as trouble

HANGING, FINE = 2, 1


def test_hanging_pages_of_one_account_cost_no_other_its_turn(trouble: None) -> None:
    """Once a page of theirs has wasted its time, one of the two workers is always left to the others."""

    async def main() -> int:
        pages = {f"/{word}": http(word.encode()) for word in ("hang", "fine")}
        async with Evil(pages) as site, open_engine(parse_timeout=2, workers=2) as engine:
            await ask(engine, "text", site.url + "/fine", account=FINE)
            ended, both = 0, asyncio.Event()

            async def attack() -> None:
                nonlocal ended
                while True:
                    await ask(engine, "text", site.url + "/hang", account=HANGING)
                    ended += 1
                    if ended == 2:  # both workers were theirs until then
                        both.set()

            attacks = [asyncio.create_task(attack()) for _ in range(6)]
            async with asyncio.timeout(BUSY_SECONDS):
                await both.wait()
            answered = 0
            # A step is a page that hangs until its deadline: behind them each answer would cost one or two.
            while ended < 7 and answered < 10:
                result = await ask(engine, "text", site.url + "/fine", account=FINE)
                answered += result.status == 200
            for task in attacks:
                task.cancel()
            await asyncio.gather(*attacks, return_exceptions=True)
            return answered

    assert asyncio.run(main()) == 10
