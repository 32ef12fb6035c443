"""A fetch on its way through redirects and tries, and what is told of it when it has ended."""

from __future__ import annotations

from yarl import URL

from webanalytics.fetching.content import type_or_text
from webanalytics.fetching.exchange import RawResponse, Wanted
from webanalytics.fetching.guard import check_redirect, host_key
from webanalytics.fetching.response import Asked, Exchange, FetchError, FetchLog, Problem, Response, refusal

MOST_CHALLENGES = 3
"""Challenges of one try that are answered: with many requests under way, nonces are soon too old."""


class FetchState:
    """A fetch in progress: the URL it has reached, and the seconds it has taken."""

    def __init__(
        self, wanted: Wanted, start: URL, *, robots: bool, asked: Asked | None, is_rules: bool = False
    ) -> None:
        self.wanted = wanted
        self.is_rules = is_rules
        self.start = start
        self.robots = robots
        self.asked = asked
        self.first = False
        self.spent = 0.0
        self.restart(start)

    def restart(self, start: URL) -> None:
        """Begin another try."""
        self.url = start
        self.passed: list[str] = []
        self.kinds: list[str] = []
        self.redirected = False
        self.steps: list[float] = []
        self._exchanges: list[Exchange] = []
        self._answers = 0

    @property
    def under_way(self) -> bool:
        """Whether a redirect or a challenge of this try was answered: it need not queue again."""
        return bool(self.passed or self._answers)

    @property
    def elapsed(self) -> float:
        """Seconds of this try on the network."""
        return sum(self.steps)

    def took(self, seconds: float) -> None:
        """Count the seconds of an answer; those of a challenge belong to the address that is asked again."""
        self.spent += seconds
        before = sum(self.steps[len(self.passed) :])
        self.steps[len(self.passed) :] = [before + seconds]

    @property
    def downgraded(self) -> bool:
        """Whether redirects have led from https to http."""
        return self.url.scheme == "http" and any(url.startswith("https:") for url in self.passed)

    def page(self, answer: RawResponse, problem: Problem | None) -> str | None:
        """Return the address of a page that was answered, "" for an error, None for redirects and files."""
        if self.is_rules or self.wanted.accept != "page" or answer.location is not None:
            return None
        return "" if problem else str(self.url)

    def leads_on(self, answer: RawResponse, problem: Problem | None) -> bool:
        """Return whether an answer is a redirect within its host, or a challenge that is answered next."""
        if problem is not None:
            return problem.challenged
        try:
            target = check_redirect(self.url, answer.location, allow_private=True)
        except Problem:
            return False
        return host_key(target) == host_key(self.url)

    def answer_challenge(self) -> bool:
        """Return whether the same address may be asked once more, with an answer to its challenge."""
        self._answers += 1
        if self._answers > MOST_CHALLENGES:
            return False
        del self._exchanges[-1:]
        return True

    def begin(self) -> Exchange | None:
        """Return what a further exchange is written to, if the fetch is recorded."""
        if self.asked is None:
            return None
        self._exchanges.append(Exchange(str(self.url)))
        return self._exchanges[-1]

    def refusal(self, answer: RawResponse, problem: Problem | None) -> Problem | None:
        """Return the problem with an answer: what is in place of a page, where that is asked for."""
        is_last = problem.key in ("status", "not_accepted") if problem else answer.location is None
        if not self.wanted.refusals or not is_last:
            return problem
        found = refusal(answer.status, answer.headers, answer.content, self.passed, str(self.url))
        if found is None:
            return problem
        found.headers, found.received = answer.headers, len(answer.content)
        if problem is not None:
            found.again, found.retry_after = problem.again, problem.retry_after
        return found

    def response(self, url: str, answer: RawResponse) -> Response:
        """Return the response of the URL as it was given."""
        return Response(
            url=url,
            final_url=str(self.url),
            redirects=tuple(self.passed),
            http_status=answer.status,
            content_type=type_or_text(answer.headers.get("Content-Type", ""), answer.content),
            headers=answer.headers,
            content=answer.content,
            elapsed=self.elapsed,
            steps=tuple(self.steps),
            redirect_kinds=tuple(self.kinds),
            certificate=answer.certificate,
            is_private=answer.is_private,
        )

    def error(self, problem: Problem, parameter: str) -> FetchError:
        """Return the error that ends the fetch; ``parameter`` is what its sentence calls the URL."""
        values = {"parameter": parameter, **problem.details}
        error = FetchError(
            problem.key,
            values | {"redirected": True} if self.redirected else values,
            http_status=problem.http_status,
            final_url=str(self.url),
            redirects=tuple(self.passed),
            elapsed=self.elapsed,
            bytes=problem.received,
            redirect_kinds=tuple(self.kinds),
            headers=problem.headers,
            content=problem.content,
        )
        error.short = problem.short
        return error

    def log(self, end: RawResponse | Problem) -> FetchLog | None:
        """Return what the recorder is told; nothing where it does not ask, or this machine fell short."""
        if self.asked is None or (isinstance(end, Problem) and end.short):
            return None
        if isinstance(end, Problem):
            status, size, error, values = end.http_status, end.received, end.key, dict(end.details)
            if self.redirected:
                values["redirected"] = True
        else:
            status, size, error, values = end.status, len(end.content), None, {}
        return FetchLog(
            "robots" if self.is_rules else "page",
            self.asked,
            tuple(item for item in self._exchanges if item.status is not None),
            values,
            final_url=str(self.url),
            redirects=tuple(self.passed),
            redirect_kinds=tuple(self.kinds),
            http_status=status,
            elapsed=self.elapsed,
            size=size,
            error=error,
            certificate=None if isinstance(end, Problem) else end.certificate,
        )
