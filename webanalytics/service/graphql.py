"""GraphQL: one request that calls several operations and selects the fields of their answers.

A query is read in two steps, so that its credits can be held between them: `GraphQLEndpoint.parse`
refuses what is wrong or too large and names the charged fields, `GraphQLEndpoint.execute` has them
answered and selects what the query asks for. Questions about the schema cost nothing.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLIncludeDirective,
    GraphQLResolveInfo,
    GraphQLSkipDirective,
    OperationDefinitionNode,
    OperationType,
    SelectionNode,
    SelectionSetNode,
    execute_sync,
    get_argument_values,
    get_directive_values,
    get_variable_values,
    parse,
    specified_rules,
    validate,
)
from graphql.validation import OverlappingFieldsCanBeMergedRule

from webanalytics.operations import OPERATIONS, Operation
from webanalytics.service.envelope import visible_fields
from webanalytics.service.graphql_limits import DocumentCheck, QueryLimits
from webanalytics.service.graphql_schema import INPUT, build_schema, graphql_name
from webanalytics.service.results import Problem, Result
from webanalytics.service.settings import ServiceSettings

STATUS_EXTENSION = "statusCode"
"""The entry of an error's ``extensions`` with the status that a single call would have had."""

Run = Callable[[Operation, dict[str, Any]], Awaitable[Result]]

# `DocumentCheck` does the work of the rule left out here, in linear time.
_RULES = tuple(rule for rule in specified_rules if rule is not OverlappingFieldsCanBeMergedRule)


@dataclass(frozen=True)
class Prepared:
    """A query that may be executed.

    Attributes
    ----------
    charged : list of (Operation, dict)
        The operations called and their parameters, unchecked, in the order of the query; each is
        called once, however often the query repeats it under one name.
    """

    charged: list[tuple[Operation, dict[str, Any]]]
    document: DocumentNode = field(repr=False)
    variables: Mapping[str, Any] = field(repr=False)
    operation_name: str | None = None
    keys: tuple[str, ...] = ()


class _TooManyFields(BaseException):
    """Ends an execution at once; the library would turn any `Exception` into one field's error."""


class GraphQLEndpoint:
    """Reads and executes queries.

    Parameters
    ----------
    settings : ServiceSettings
        ``graphql_operations``, ``graphql_depth`` and ``graphql_tokens``.
    operations : iterable of Operation
        Declarations; those with ``graphql`` set become root fields.
    cached : int
        Most documents that are kept after reading.
    cached_characters : int
        Longest text of a document that is kept.
    """

    def __init__(
        self,
        settings: ServiceSettings,
        operations: Iterable[Operation] = OPERATIONS.values(),
        cached: int = 256,
        cached_characters: int = 10_000,
    ) -> None:
        offered = [operation for operation in operations if operation.graphql]
        self._operations = {graphql_name(operation.path): operation for operation in offered}
        self.schema = build_schema(offered, _resolve)
        self.limits = QueryLimits(
            settings.graphql_operations, settings.graphql_depth, settings.graphql_tokens
        )
        self._cached = cached
        self._cached_characters = cached_characters
        self._documents: OrderedDict[str, DocumentNode] = OrderedDict()

    def parse(self, query: Any, variables: Any, operation_name: Any) -> Prepared:
        """Read a query and find out what it calls; nothing is called.

        Parameters
        ----------
        query, variables, operation_name : object
            The request's ``query``, ``variables`` and ``operationName``, whatever they are.

        Raises
        ------
        Problem
            400 with one sentence that names one of the three.
        """
        _check_types(query, variables, operation_name)
        document = self._document(query)
        operation = _selected(document, operation_name or None)
        defined = operation.variable_definitions or ()
        values = get_variable_values(self.schema, defined, variables or {}, max_errors=1)
        if isinstance(values, list):
            raise _unfit(values[0])
        roots = _Roots(document, values).collect(operation.selection_set)
        charged = [
            (key, self._operations[node.name.value], self._parameters(node, values))
            for key, node in roots.items()
            if node.name.value in self._operations
        ]
        name = operation.name.value if operation.name else None
        prepared = Prepared(
            [(called, parameters) for _, called, parameters in charged],
            document,
            variables or {},
            name,
            tuple(key for key, _, _ in charged),
        )
        if any(node.name.value in ("__schema", "__type") for node in roots.values()):
            self._check_schema_fields(prepared)
        return prepared

    async def execute(self, prepared: Prepared, run: Run, premium: bool) -> dict[str, Any]:
        """Have a query's operations answered, all at once, and select what it asks for.

        Parameters
        ----------
        prepared : Prepared
            What `parse` returned.
        run : callable
            Answers one operation with unchecked parameters; how many run at once is its own affair.
        premium : bool
            Whether Premium fields are given; otherwise they are null.

        Returns
        -------
        dict
            ``data`` with null for every operation that failed, and ``errors`` with an entry for each:
            the sentence of a single call, its ``path``, and its status in ``extensions``.
        """

        async def one(operation: Operation, parameters: dict[str, Any]) -> Result:
            try:
                return await run(operation, parameters)
            except Problem as problem:
                return problem.result

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(*call)) for call in prepared.charged]
        calls = zip(prepared.keys, prepared.charged, tasks, strict=True)
        source = {key: _value(call[0], task.result(), premium) for key, call, task in calls}
        return self._answer(prepared, source)

    def _answer(
        self, prepared: Prepared, source: Mapping[str, Any], middleware: Any = None
    ) -> dict[str, Any]:
        result = execute_sync(
            self.schema,
            prepared.document,
            root_value=source,
            variable_values=dict(prepared.variables),
            operation_name=prepared.operation_name,
            middleware=middleware,
        )
        answer: dict[str, Any] = {"data": result.data}
        if result.errors:
            answer["errors"] = [error.formatted for error in result.errors]
        return answer

    def _document(self, query: str) -> DocumentNode:
        """Return the parsed query, checked and validated, from memory where it was seen before."""
        document = self._documents.get(query)
        if document is not None:
            self._documents.move_to_end(query)
            return document
        document = self._read(query)
        if len(query) <= self._cached_characters:
            self._documents[query] = document
            if len(self._documents) > self._cached:
                self._documents.popitem(last=False)
        return document

    def _read(self, query: str) -> DocumentNode:
        limits = self.limits
        if len(query) > limits.characters:
            raise Problem(400, f"The `query` parameter must be at most {limits.characters} characters long.")
        try:
            document = parse(query, max_lexical_tokens=limits.tokens, max_comments=limits.tokens)
        except GraphQLError as error:
            raise Problem(400, f"The `query` parameter must be valid GraphQL: {_located(error)}.") from None
        for node in document.definitions:
            if isinstance(node, OperationDefinitionNode) and node.operation is not OperationType.QUERY:
                raise Problem(400, "The `query` parameter must be a query, no mutation and no subscription.")
        DocumentCheck(document, limits, self._operations).run()
        errors = validate(self.schema, document, _RULES, max_errors=1)
        if errors:
            raise Problem(400, f"The `query` parameter must be valid GraphQL: {_located(errors[0])}.")
        return document

    def _parameters(self, node: FieldNode, values: Any) -> dict[str, Any]:
        root = self.schema.query_type
        assert root is not None  # noqa: S101 - every schema built here has one
        try:
            given = get_argument_values(root.fields[node.name.value], node, values).get(INPUT)
        except GraphQLError as error:
            raise _unfit(error) from None
        return dict(given) if given else {}

    def _check_schema_fields(self, prepared: Prepared) -> None:
        """Refuse questions about the schema whose answer would be too long."""
        left = self.limits.schema_fields

        def count(resolve: Callable[..., Any], source: Any, info: Any, **arguments: Any) -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                raise _TooManyFields
            return resolve(source, info, **arguments)

        try:
            self._answer(prepared, {}, [count])
        except _TooManyFields:
            most = self.limits.schema_fields
            raise Problem(
                400, f"The `query` parameter must ask for at most {most} fields of the schema."
            ) from None


class _Roots:
    """Collects the root fields that are executed: GraphQL specification, section 6.3.2."""

    def __init__(self, document: DocumentNode, values: Any) -> None:
        self._values = values
        self._fragments = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }

    def collect(self, selection_set: SelectionSetNode) -> dict[str, FieldNode]:
        """Return the first field of each name that is not skipped."""
        roots: dict[str, FieldNode] = {}
        for node in self._fields(selection_set, set()):
            roots.setdefault((node.alias or node.name).value, node)
        return roots

    def _fields(self, selection_set: SelectionSetNode, visited: set[str]) -> Iterator[FieldNode]:
        for node in selection_set.selections:
            if not self._included(node):
                continue
            if isinstance(node, FieldNode):
                yield node
            elif isinstance(node, FragmentSpreadNode):
                name = node.name.value
                if name not in visited:
                    visited.add(name)
                    yield from self._fields(self._fragments[name].selection_set, visited)
            else:
                yield from self._fields(node.selection_set, visited)  # type: ignore[attr-defined]

    def _included(self, node: SelectionNode) -> bool:
        if not node.directives:
            return True
        try:
            skip = get_directive_values(GraphQLSkipDirective, node, self._values)
            include = get_directive_values(GraphQLIncludeDirective, node, self._values)
        except GraphQLError as error:
            raise _unfit(error) from None
        return not (skip and skip["if"]) and not (include and not include["if"])


def _resolve(source: Any, info: GraphQLResolveInfo[Any]) -> Any:
    """Return what stands for a root field: its data, or its failure, which is raised."""
    value = source.get(info.path.key)
    if isinstance(value, GraphQLError):
        raise value
    return value


def _value(operation: Operation, result: Result, premium: bool) -> dict[str, Any] | GraphQLError:
    if result.ok and result.data is not None:
        data = result.data
        return {name: data[name] for name in visible_fields(operation, premium) if name in data}
    return GraphQLError(result.error or "The service failed.", extensions={STATUS_EXTENSION: result.status})


def _check_types(query: Any, variables: Any, operation_name: Any) -> None:
    if query is None:
        raise Problem(400, "The `query` parameter is required.")
    if not isinstance(query, str):
        raise Problem(400, "The `query` parameter must be a string.")
    if variables is not None and not isinstance(variables, dict):
        raise Problem(400, "The `variables` parameter must be an object.")
    if operation_name is not None and not isinstance(operation_name, str):
        raise Problem(400, "The `operationName` parameter must be a string.")


def _selected(document: DocumentNode, name: str | None) -> OperationDefinitionNode:
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    if not operations:
        raise Problem(400, "The `query` parameter must hold a query.")
    if name is None:
        if len(operations) > 1:
            raise Problem(400, "The `operationName` parameter is required for a query of several operations.")
        return operations[0]
    for node in operations:
        if node.name and node.name.value == name:
            return node
    raise Problem(400, "The `operationName` parameter must be the name of an operation of the query.")


def _line(message: str, longest: int = 160) -> str:
    r"""Return the library's message as the end of a sentence: one short line without controls.

    Examples
    --------
    >>> _line("Syntax Error: Expected Name,\n  found <EOF>.")
    'Syntax Error: Expected Name, found <EOF>'
    """
    words = " ".join("".join(sign if sign.isprintable() else " " for sign in message[:1000]).split())
    if len(words) > longest:
        return f"{words[:longest].rstrip()}\u2026"
    return words.rstrip(".")


def _unfit(error: GraphQLError) -> Problem:
    return Problem(400, f"The `variables` parameter must fit the query: {_line(error.message)}.")


def _located(error: GraphQLError) -> str:
    place = error.locations[0] if error.locations else None
    return _line(error.message) + (f" (line {place.line}, column {place.column})" if place else "")
