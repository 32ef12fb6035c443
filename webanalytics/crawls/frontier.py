"""The frontier of a crawl: which address is fetched next, and in which order answers count.

The order is breadth first and depends on content alone: an answer counts when all addresses before its own
have been settled, so caps and traps are decided as if pages were fetched one by one. Fetching goes ahead of
that order: first what is admitted, host by host in turn, then what pages link to whose turn has not come yet.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import replace

from webanalytics.core.outcomes import Job, JobResult
from webanalytics.crawls.admission import Admission
from webanalytics.crawls.candidates import Candidate, State
from webanalytics.crawls.page_answers import Read, on_the_way
from webanalytics.crawls.patterns import folder_of

AHEAD = 400
"""Most addresses that are fetched, or kept, before it is known whether their turn comes."""

GUESSES = 8
"""Of these, most of one folder that has brought nothing new yet; one more for each of its pages that has."""

GENERATIONS = 3
"""How many guesses may follow from each other: a trap would provide them without end."""


Settle = Callable[[Candidate, JobResult, bool], None]
"""Takes a page whose turn has come, its answer, and whether it is a row."""


class Frontier:
    """Hands out jobs and takes their answers."""

    def __init__(
        self,
        admission: Admission,  # decides what is fetched, and takes what pages say
        per_host: int,  # most jobs that are handed out for one host at once
        read: Callable[[str, JobResult], Read],  # returns what must be known of an answer
        settle: Settle | None = None,
        *,
        ahead: int = AHEAD,
        most_ready: int | None = None,  # most answers that wait for their turn; by default any number
        brings: bool = True,  # whether the answer to a redirect is that of the address that it led to, too
    ) -> None:
        self._admission = admission
        self._per_host = per_host
        self._read = read
        self.settle = settle
        self._ahead, self._most_ready, self._brings = ahead, most_ready, brings
        self._all: list[Candidate] = []
        self._queues: dict[str, deque[Candidate]] = {}
        self._turns: deque[str] = deque()
        self._under_way: dict[str, int] = {}
        self._held: dict[str, deque[Candidate]] = {}
        self._unsettled: Counter[str] = Counter()
        self._ready: dict[int, JobResult] = {}
        self._fresh: deque[Candidate] = deque()
        self._guessed: dict[str, Candidate] = {}
        self._guesses: deque[Candidate] = deque()
        self._guesses_in: Counter[str] = Counter()
        self.rows: list[Candidate] = []
        self.dropped = 0
        self.fetched = 0
        self.stopped = ""
        self.ended = False
        self.blind = False
        self._take_new()

    @property
    def found(self) -> int:
        """How many addresses are known that were, are or will be fetched."""
        return min(self._admission.admitted, self._admission.scope.max_pages)

    def next(self) -> Job | None:
        """Return the next job, None while there is none to hand out."""
        if self.ended or self._admission.full:
            return None
        candidate = self._expected()
        if candidate is None and not self._is_far_ahead:
            candidate = self._released() or self._queued() or self._guess()
        if candidate is None:
            return None
        candidate.state = State.FLYING
        self._unsettled[candidate.family] += 1
        self._under_way[candidate.host] = self._under_way.get(candidate.host, 0) + 1
        self.fetched += 1
        return Job(candidate.number, candidate.subject)

    @property
    def _is_far_ahead(self) -> bool:
        return self._most_ready is not None and len(self._ready) >= self._most_ready

    def _expected(self) -> Candidate | None:
        """Return the address that everything waits for, if it was not handed out."""
        candidate = self._turn()
        return candidate if candidate is not None and candidate.state is State.QUEUED else None

    def _turn(self) -> Candidate | None:
        candidate = self._admission.expected()
        self._take_new()  # the pages of a sitemap may have been admitted for it
        return candidate

    def _queued(self) -> Candidate | None:
        """Return the first address of the next host in turn that need not be held back."""
        hosts = len(self._turns)
        while hosts:
            host = self._turns[0]
            queue = self._queues[host]
            while queue and queue[0].state is not State.QUEUED:
                queue.popleft()
            if not queue:
                self._turns.popleft()
                del self._queues[host]
            elif self._under_way.get(host, 0) >= self._per_host or not self._admission.has_room(queue[0]):
                self._turns.rotate(-1)
            elif self._is_open(queue[0]):
                self._turns.rotate(-1)
                return queue.popleft()
            else:
                self._held.setdefault(queue[0].family, deque()).append(queue.popleft())
                continue
            hosts -= 1
        return None

    def _is_open(self, candidate: Candidate) -> bool:
        """Return whether a further address of a family may be fetched before the last ones were settled."""
        family = candidate.family
        if not family or candidate.trusted:
            return True
        return self._unsettled[family] < self._admission.traps.allowance(family)

    def _released(self) -> Candidate | None:
        """Return an address that was held back and need not be any more."""
        for family, queue in list(self._held.items()):
            while queue and queue[0].state is not State.QUEUED:
                queue.popleft()
            if not queue:
                del self._held[family]
            elif (
                self._is_open(queue[0])
                and self._under_way.get(queue[0].host, 0) < self._per_host
                and not self._admission.refused(queue[0])
            ):
                return queue.popleft()
        return None

    def _guess(self) -> Candidate | None:
        """Return an address that a page links to whose turn has not come."""
        while True:
            while self._guesses:
                candidate = self._guesses.popleft()
                if candidate.state is not State.QUEUED:
                    continue
                if self._under_way.get(candidate.host, 0) >= self._per_host:
                    self._guesses.appendleft(candidate)
                    return None
                return candidate
            if not self._fresh or len(self._guessed) >= self._ahead:
                return None
            self._guess_from(self._fresh.popleft())

    def _guess_from(self, page: Candidate) -> None:
        result = self._ready.get(page.number)
        generation = page.level if page.guess else 0
        if result is None or page.state is not State.READY or generation >= GENERATIONS:
            return
        room = self._admission.room - len(self._ready) - sum(self._under_way.values())
        for url in self._admission.likely(page, self._read(page.url, result)):
            if len(self._guessed) >= min(self._ahead, room):
                return
            if url not in self._guessed:
                folder = folder_of(url)
                if self._guesses_in[folder] >= GUESSES + self._admission.traps.fruitful[folder]:
                    continue
                self._guesses_in[folder] += 1
                candidate = Candidate(url, None, generation + 1, guess=folder)
                self._number(candidate)
                self._guessed[url] = candidate
                self._guesses.append(candidate)

    def take(self, result: JobResult, *, kept: bool = False) -> None:
        """Take an answer, which may be that of an earlier run, and settle all whose turn has come."""
        candidate = self._all[result.number]
        self.fetched -= kept
        self._under_way[candidate.host] -= 1
        if candidate.state is State.DROPPED:
            self.dropped += 1
            return
        self._keep(candidate, result)
        self.advance()

    def _keep(self, candidate: Candidate, result: JobResult) -> None:
        candidate.state = State.READY
        self._ready[candidate.number] = result
        self._fresh.append(candidate)

    def _bring(self, page: Read, result: JobResult) -> None:
        """Take what a redirect has brought of other addresses that are to be fetched, and need not be now."""
        for url, answer in on_the_way(page, result):
            known = self._admission.seen.get(url)
            if isinstance(known, Candidate) and known.state is State.QUEUED and known.subject == url:
                self._unsettled[known.family] += 1
                self._keep(known, replace(answer, number=known.number))

    def advance(self) -> None:
        """Settle the answers whose turn has come."""
        while not self.ended:
            candidate = self._turn()
            if candidate is None:
                self.ended = self._admission.complete
                break
            if self._admission.refused(candidate):
                self._drop(candidate)
                self._admission.refuse(candidate)
                continue
            if self._admission.full:
                if not self._admission.is_listed:  # what the sitemap names is left out too, and counted
                    break
                self.stopped = self._admission.stop()
                self.ended = True
                break
            result = self._ready.pop(candidate.number, None)
            if result is None:
                break
            self._unsettled[candidate.family] -= 1
            page = self._settle(candidate, result)
            self._take_new()
            if self._brings:
                self._bring(page, result)
        if self.ended:
            self.dropped += len(self._ready)
            self._ready.clear()
            self._guessed.clear()

    def _settle(self, candidate: Candidate, result: JobResult) -> Read:
        candidate.state = State.DONE
        page = self._read(candidate.url, result)
        self.blind = self.blind or page.blind
        is_row = self._admission.settle(candidate, page, result)
        if is_row:
            self.rows.append(candidate)
        if self.settle is not None:
            self.settle(candidate, result, is_row)
        return page

    def _take_new(self) -> None:
        """Queue what was admitted, or take what was fetched of it before."""
        for candidate in self._admission.new():
            guess = self._guessed.pop(candidate.url, None)
            if guess is None:
                self._number(candidate)
            else:
                self._guesses_in[guess.guess] -= 1
                if guess.state is not State.QUEUED:
                    self._unsettled[candidate.family] += 1
                candidate.number, candidate.state = guess.number, guess.state
                guess.state = State.DONE  # no longer a guess
                self._all[guess.number] = candidate
            if candidate.state is State.QUEUED:
                if candidate.host not in self._queues:
                    self._queues[candidate.host] = deque()
                    self._turns.append(candidate.host)
                self._queues[candidate.host].append(candidate)

    def _number(self, candidate: Candidate) -> None:
        candidate.number = len(self._all)
        self._all.append(candidate)

    def _drop(self, candidate: Candidate) -> None:
        if candidate.state is State.READY:
            self._ready.pop(candidate.number, None)
            self.dropped += 1
        if candidate.state is not State.QUEUED:
            self._unsettled[candidate.family] -= 1
        candidate.state = State.DROPPED

    def cut(self) -> None:
        """Settle the answers that are there, without those before them."""
        self._admission.cut()
        for number in sorted(self._ready):
            candidate, result = self._all[number], self._ready.pop(number)
            if candidate.url not in self._guessed:
                self._settle(candidate, result)
