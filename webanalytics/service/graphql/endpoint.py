"""GraphQL: one request that calls several operations and selects the fields of their answers.

A query is executed twice, so that its credits can be held in between: `GraphQLEndpoint.parse` refuses a query
that is wrong or too large and collects its calls, `GraphQLEndpoint.execute` runs them and selects the fields
of the query. Introspection costs nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    execute_sync,
    get_operation_ast,
    parse,
    validate,
)

from webanalytics.core.strings import one_line
from webanalytics.operations import OPERATIONS, Operation
from webanalytics.service.accounts.base import NoCredits, Reservation
from webanalytics.service.billing.calls import Answer, Caller, Calls
from webanalytics.service.billing.payment import HeldCredits, idempotency, no_credits
from webanalytics.service.config.settings import ServiceSettings
from webanalytics.service.graphql.schema import Root, build_schema
from webanalytics.service.headers import check_operation
from webanalytics.service.parameters import check_parameters
from webanalytics.service.results import Problem, Result, visible_fields

STATUS_EXTENSION = "statusCode"
"""The entry of an error's ``extensions`` with the status that a single call would have had."""

Call = tuple[Operation, dict[str, Any]]
Run = Callable[[Operation, dict[str, Any]], Awaitable[Result]]

MAX_CHARACTERS = 250_000
"""Longest query: 200 operations with their addresses in it."""


def refusal(demand: str) -> Problem:
    """Return the error of a query that breaks a rule, as the end of "The parameter must"."""
    return Problem(400, f"The `query` parameter must {demand}.")


@dataclass(frozen=True)
class Prepared:
    """A query that may be executed."""

    # the operations called and their parameters, unchecked, by the name they answer under; each is called
    # once, however often the query repeats it under one name
    calls: dict[str, Call]
    about_schema: ExecutionResult = field(repr=False)  # the result of the query besides the calls
    document: DocumentNode = field(repr=False)
    variables: dict[str, Any] = field(repr=False)
    operation_name: str | None = None


class GraphQLEndpoint:
    """Reads and executes queries; ``operations`` with ``graphql`` set become root fields."""

    def __init__(
        self, settings: ServiceSettings, operations: Iterable[Operation] = OPERATIONS.values()
    ) -> None:
        self.schema = build_schema(operation for operation in operations if operation.graphql)
        self._most = settings.graphql_operations
        self._depth = settings.graphql_depth
        self._tokens = settings.graphql_tokens

    def parse(self, query: Any, variables: Any, operation_name: Any) -> Prepared:
        """Parse a query and collect its calls, without calling anything.

        Raises `Problem` 400 with one sentence that names one of the three.
        """
        _check_types(query, variables, operation_name)
        document = self._read(query)
        _check_name(document, operation_name or None)
        calls: dict[str, Call] = {}

        def collect(operation: Operation, name: str, parameters: Mapping[str, Any] | None) -> None:
            calls[name] = (operation, dict(parameters or {}))

        query_parts = (document, variables or {}, operation_name or None)
        result = self._execute(collect, *query_parts)
        if result.errors:
            message = _line(result.errors[0].message)
            raise Problem(400, f"The `variables` parameter must fit the query: {message}.")
        return Prepared(calls, result, *query_parts)

    async def execute(self, prepared: Prepared, run: Run, premium: bool) -> dict[str, Any]:
        """Run a query's operations concurrently, and select the requested fields.

        Parameters
        ----------
        prepared : Prepared
            What `parse` returned.
        run : callable
            Answers one operation with unchecked parameters, and limits how many run at once.
        premium : bool
            Whether Premium fields are given; otherwise they are null.

        Returns
        -------
        dict
            ``data`` with null for every operation that failed, and ``errors`` with an entry for each.
        """

        async def one(operation: Operation, parameters: dict[str, Any]) -> Result:
            try:
                return await run(operation, parameters)
            except Problem as problem:
                return problem.result

        async with asyncio.TaskGroup() as group:
            tasks = {name: group.create_task(one(*call)) for name, call in prepared.calls.items()}

        def answer(operation: Operation, name: str, _parameters: Mapping[str, Any] | None) -> dict[str, Any]:
            result = tasks[name].result()
            if not result.ok or result.data is None:
                raise _failure(result)
            return {key: result.data[key] for key in visible_fields(operation, premium) if key in result.data}

        executed = prepared.about_schema
        if tasks:
            executed = self._execute(answer, prepared.document, prepared.variables, prepared.operation_name)
        answered: dict[str, Any] = {"data": executed.data}
        if executed.errors:
            answered["errors"] = [error.formatted for error in executed.errors]
        return answered

    def _execute(
        self,
        root: Root,
        document: DocumentNode,
        variables: dict[str, Any],
        operation_name: str | None,
    ) -> ExecutionResult:
        return execute_sync(
            self.schema,
            document,
            root_value=root,
            variable_values=variables,
            operation_name=operation_name,
            max_coercion_errors=1,
        )

    def _read(self, query: str) -> DocumentNode:
        """Return the parsed query, checked and validated."""
        if len(query) > MAX_CHARACTERS:
            raise refusal(f"be at most {MAX_CHARACTERS} characters long")
        try:
            document = parse(query, max_lexical_tokens=self._tokens, max_comments=self._tokens)
        except GraphQLError as error:
            raise refusal(f"be valid GraphQL: {_located(error)}") from None
        fragments, queries = {}, []
        for node in document.definitions:
            if isinstance(node, FragmentDefinitionNode):
                fragments[node.name.value] = node.selection_set
            elif isinstance(node, OperationDefinitionNode) and node.operation is OperationType.QUERY:
                queries.append(node.selection_set)
            else:
                raise refusal("be a query: no mutation and no subscription")
        size = _Size(fragments, self._most, self._depth, self._tokens)
        for selected in queries:
            size.add(selected, 1)
        for selected in fragments.values():
            size.add(selected, 2)
        errors = validate(self.schema, document, max_errors=1)
        if errors:
            raise refusal(f"be valid GraphQL: {_located(errors[0])}")
        return document


class _Size:
    """How much a document asks for, its fragments in the places where they are spread.

    Parameters
    ----------
    fragments : Mapping
        Selections by the name of their fragment.
    operations, depth, fields : int
        The most that there may be of each.
    """

    def __init__(
        self, fragments: Mapping[str, SelectionSetNode], operations: int, depth: int, fields: int
    ) -> None:
        self._fragments, self._operations, self._depth = fragments, operations, depth
        self._left, self._most = fields, fields
        self._called = 0

    def add(self, selected: SelectionSetNode, depth: int) -> None:
        """Count a selection; refuse what would let a short document ask for a long answer."""
        if depth > self._depth:
            raise refusal(f"be nested at most {self._depth} levels deep")
        names = set()
        for node in self._fields(selected, ()):
            # an operation may be called under many names; a field of its answer, or the schema, is had once
            once = depth > 1 or node.name.value.startswith("__")
            name = (node.name if once else node.alias or node.name).value
            if name in names:
                raise refusal(f"ask once for `{name[:40]}`, or under other names for other operations")
            names.add(name)
            self._called += depth == 1
            if self._called > self._operations:
                raise refusal(f"hold at most {self._operations} operations")
            if node.selection_set:
                self.add(node.selection_set, depth + 1)

    def _fields(self, selected: SelectionSetNode, inside: tuple[str, ...]) -> Iterator[FieldNode]:
        """Yield the fields of a selection, those of its fragments too."""
        for node in selected.selections:
            self._left -= 1
            if self._left < 0:
                raise refusal(f"hold at most {self._most} fields, those of repeated fragments counted again")
            if isinstance(node, FieldNode):
                yield node
                continue
            name = node.name.value if isinstance(node, FragmentSpreadNode) else ""
            if name in inside or len(inside) >= self._depth:
                raise refusal(f"hold fragments in each other at most {self._depth} deep")
            spread = self._fragments.get(name) if name else getattr(node, "selection_set", None)
            if spread is not None:  # of a fragment that is not there, the validation speaks
                yield from self._fields(spread, (*inside, name or f"... {len(inside)}"))


def _failure(result: Result) -> GraphQLError:
    """Return the error of an operation that failed: the message and status of a single call."""
    return GraphQLError(
        result.error or "The service failed.",
        extensions={STATUS_EXTENSION: result.status, **result.error_fields},
    )


def _check_types(query: Any, variables: Any, operation_name: Any) -> None:
    if query is None:
        raise Problem(400, "The `query` parameter is required.")
    if not isinstance(query, str):
        raise refusal("be a string")
    if variables is not None and not isinstance(variables, dict):
        raise Problem(400, "The `variables` parameter must be an object.")
    if operation_name is not None and not isinstance(operation_name, str):
        raise Problem(400, "The `operationName` parameter must be a string.")


def _check_name(document: DocumentNode, name: str | None) -> None:
    """Refuse a name that none of the document's queries has, or a missing one that is required."""
    if get_operation_ast(document, name) is not None:
        return
    if name is None:
        raise Problem(400, "The `operationName` parameter is required for a query of several operations.")
    raise Problem(400, "The `operationName` parameter must be the name of an operation of the query.")


def _line(message: str, longest: int = 160) -> str:
    r"""Return the library's message as the end of a sentence: one short line without controls.

    Examples
    --------
    >>> _line("Syntax Error: Expected Name,\n  found <EOF>.")
    'Syntax Error: Expected Name, found <EOF>'
    """
    words = one_line(message[:1000])
    if len(words) > longest:
        return f"{words[:longest].rstrip()}\u2026"
    return words.rstrip(".")


def _located(error: GraphQLError) -> str:
    place = error.locations[0] if error.locations else None
    return _line(error.message) + (f" (line {place.line}, column {place.column})" if place else "")


OPERATION = "graphql"


class Queries:
    """Answers GraphQL requests."""

    def __init__(self, calls: Calls, endpoint: GraphQLEndpoint) -> None:
        self._calls = calls
        self._endpoint = endpoint

    async def run(self, caller: Caller, body: Mapping[str, Any]) -> Answer:
        """Answer one request; each operation in it that succeeds costs its credits.

        Raises `Problem` 400 for a wrong query, 429 where no credits are left.
        """
        prepared = self._endpoint.parse(body.get("query"), body.get("variables"), body.get("operationName"))
        caller.record.inputs = len(prepared.calls)
        cost = sum(self._calls.price(operation) for operation, _ in prepared.calls.values())
        promise = idempotency(
            caller.idempotency_key,
            caller.api_key,
            OPERATION,
            [body.get("query"), body.get("variables"), body.get("operationName")],
        )
        if not cost:
            answer, _ = await self._work(caller, prepared, Reservation(0, 0, 0))
            return answer
        call = self._calls.call(caller, OPERATION, 1, cost, promise)
        async with self._calls.admission.place(caller.key.account):
            return await self._calls.reserved(caller, call, lambda held: self._work(caller, prepared, held))

    async def _work(self, caller: Caller, prepared: Prepared, held: Reservation) -> tuple[Answer, int]:
        credits_held = HeldCredits(held.credits)
        window = asyncio.Semaphore(self._calls.settings.batch_concurrency)

        async def run(operation: Operation, given: dict[str, Any]) -> Result:
            try:
                check_operation(caller.key, operation)
                parameters = check_parameters(operation, given)
            except Problem as problem:
                return problem.result
            price = self._calls.price(operation)
            if not await credits_held.take(price):
                return no_credits(NoCredits(held.remaining), price).result
            used = False
            try:
                async with window:
                    result = await self._calls.compute(caller, operation, parameters)
                used = result.ok
            finally:
                credits_held.give(price, used=used)
            return result

        content = await self._endpoint.execute(prepared, run, premium=caller.plan.premium)
        return Answer(200, content), credits_held.spent
