"""GraphQL: one request that calls several operations and selects the fields of their answers.

A query is executed twice, so that its credits can be held in between: `GraphQLEndpoint.parse` refuses a query
that is wrong or too large and collects its calls, `GraphQLEndpoint.execute` runs them and selects the fields
of the query. Introspection costs nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    OperationDefinitionNode,
    OperationType,
    execute_sync,
    get_operation_ast,
    parse,
    specified_rules,
    validate,
)
from graphql.validation import OverlappingFieldsCanBeMergedRule

from webanalytics.operations import OPERATIONS, Operation
from webanalytics.service.config.settings import ServiceSettings
from webanalytics.service.graphql.limits import DocumentCheck, QueryLimits, refusal
from webanalytics.service.graphql.schema import Root, build_schema, graphql_name
from webanalytics.service.results import Problem, Result, visible_fields
from webanalytics.strings import one_line

STATUS_EXTENSION = "statusCode"
"""The entry of an error's ``extensions`` with the status that a single call would have had."""

Call = tuple[Operation, dict[str, Any]]
Run = Callable[[Operation, dict[str, Any]], Awaitable[Result]]

# `DocumentCheck` does the work of the rule left out here in linear time.
_RULES = tuple(rule for rule in specified_rules if rule is not OverlappingFieldsCanBeMergedRule)


@dataclass(frozen=True)
class Prepared:
    """A query that may be executed.

    Attributes
    ----------
    calls : dict of str to (Operation, dict)
        The operations called and their parameters, unchecked, by the name they answer under; each is
        called once, however often the query repeats it under one name.
    about_schema : ExecutionResult
        The result of the query besides the calls.
    """

    calls: dict[str, Call]
    about_schema: ExecutionResult = field(repr=False)
    document: DocumentNode = field(repr=False)
    variables: dict[str, Any] = field(repr=False)
    operation_name: str | None = None


class _TooManyFields(BaseException):
    """Ends an execution at once; the library would turn any `Exception` into one field's error."""


class GraphQLEndpoint:
    """Reads and executes queries; ``operations`` with ``graphql`` set become root fields.

    At most ``cached`` documents of at most ``cached_characters`` are kept after reading.
    """

    def __init__(
        self,
        settings: ServiceSettings,
        operations: Iterable[Operation] = OPERATIONS.values(),
        cached: int = 256,
        cached_characters: int = 10_000,
    ) -> None:
        offered = [operation for operation in operations if operation.graphql]
        self.schema = build_schema(offered)
        self.limits = QueryLimits(
            settings.graphql_operations, settings.graphql_depth, settings.graphql_tokens
        )
        self._charged = {graphql_name(operation.path) for operation in offered}
        self._cached_characters = cached_characters
        self._read_once = lru_cache(cached)(self._read)

    def parse(self, query: Any, variables: Any, operation_name: Any) -> Prepared:
        """Parse a query and collect its calls, without calling anything.

        Raises
        ------
        Problem
            400 with one sentence that names one of the three.
        """
        _check_types(query, variables, operation_name)
        document = (self._read_once if len(query) <= self._cached_characters else self._read)(query)
        _check_name(document, operation_name or None)
        calls: dict[str, Call] = {}

        def collect(operation: Operation, name: str, parameters: Mapping[str, Any] | None) -> None:
            calls[name] = (operation, dict(parameters or {}))

        query_parts = (document, variables or {}, operation_name or None)
        try:
            result = self._execute(collect, *query_parts, self._bounded())
        except _TooManyFields:
            raise refusal(f"ask for at most {self.limits.schema_fields} fields of the schema") from None
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
        middleware: Any = None,
    ) -> ExecutionResult:
        return execute_sync(
            self.schema,
            document,
            root_value=root,
            variable_values=variables,
            operation_name=operation_name,
            max_coercion_errors=1,
            middleware=middleware,
        )

    def _read(self, query: str) -> DocumentNode:
        """Return the parsed query, checked and validated."""
        limits = self.limits
        if len(query) > limits.characters:
            raise refusal(f"be at most {limits.characters} characters long")
        try:
            document = parse(query, max_lexical_tokens=limits.tokens, max_comments=limits.tokens)
        except GraphQLError as error:
            raise refusal(f"be valid GraphQL: {_located(error)}") from None
        for node in document.definitions:
            if isinstance(node, OperationDefinitionNode) and node.operation is not OperationType.QUERY:
                raise refusal("be a query, no mutation and no subscription")
        DocumentCheck(document, limits, self._charged).run()
        errors = validate(self.schema, document, _RULES, max_errors=1)
        if errors:
            raise refusal(f"be valid GraphQL: {_located(errors[0])}")
        return document

    def _bounded(self) -> list[Callable[..., Any]]:
        """Return a middleware that refuses introspection whose answer would be too long."""
        left = self.limits.schema_fields

        def count(resolve: Callable[..., Any], source: Any, info: Any, **arguments: Any) -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                raise _TooManyFields
            return resolve(source, info, **arguments)

        return [count]


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
