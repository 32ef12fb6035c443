"""GraphQL: one request that calls several operations and selects the fields of their answers.

A query is executed twice, so that its credits can be held in between: `GraphQLEndpoint.parse` refuses a query
that is wrong or too large and collects its calls, `GraphQLEndpoint.execute` runs them and selects the fields
of the query. Introspection costs nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import graphql as gql

from webanalytics.core.operations.types import Kind, Shape, shape_of
from webanalytics.core.strings import one_line
from webanalytics.operations import OPERATIONS, Field, Operation
from webanalytics.service.accounts.base import Reservation
from webanalytics.service.calls import Answer, Caller, Calls
from webanalytics.service.headers import check_operation
from webanalytics.service.parameters import check_parameters
from webanalytics.service.payment import HeldCredits
from webanalytics.service.results import Problem, Result, visible_fields
from webanalytics.service.settings import ServiceSettings

INPUT = "input"
"""Name of the argument that holds an operation's parameters."""

Root = Callable[[Operation, str, Mapping[str, Any] | None], Any]
"""Root value of an execution: called with an operation, the name it answers under, and its parameters."""

_JSON = gql.GraphQLScalarType("JSON", description="Any JSON value: its inner structure is the page's own.")
_SCALARS: dict[Kind, gql.GraphQLScalarType] = {
    "string": gql.GraphQLString,
    "boolean": gql.GraphQLBoolean,
    "integer": gql.GraphQLInt,
    "number": gql.GraphQLFloat,
}


def graphql_name(name: str) -> str:
    """Return a name as GraphQL allows it: letters, digits and underscores.

    >>> graphql_name("og:image:alt"), graphql_name("2fast")
    ('og_image_alt', '_2fast')
    """
    name = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"_{name}" if name[:1].isdigit() else name


class _Outputs:
    """Turns shapes into types of answers, each object once."""

    def __init__(self) -> None:
        self._objects: dict[Shape, gql.GraphQLObjectType] = {}

    def output(self, shape: Shape, *, nullable: bool = False) -> Any:
        bare = self._bare(shape)
        return bare if nullable or shape.nullable else gql.GraphQLNonNull(bare)

    def _bare(self, shape: Shape) -> Any:
        if shape.kind == "object":
            return self._object(replace(shape, nullable=False))
        if shape.kind == "list" and shape.items:
            return gql.GraphQLList(self.output(shape.items))
        return _SCALARS.get(shape.kind, _JSON)

    def _object(self, shape: Shape) -> gql.GraphQLObjectType:
        if shape not in self._objects:
            members = shape.members or {}
            fields = {
                graphql_name(name): gql.GraphQLField(
                    self.output(member, nullable=not required), resolve=_reader(name)
                )
                for name, (member, required) in members.items()
            }
            self._objects[shape] = gql.GraphQLObjectType(
                shape.name, fields, description=shape.meaning or None
            )
        return self._objects[shape]

    def field(self, field: Field) -> gql.GraphQLField:
        """Return a field of an operation's data; a Premium one is null on plans without it."""
        output = self.output(shape_of(field.type), nullable=field.premium)
        meaning = f"Premium. {field.meaning}" if field.premium else field.meaning
        return gql.GraphQLField(output, resolve=_reader(field.name), description=meaning)


def _reader(name: str) -> Callable[..., Any]:
    """Return a resolver that reads a field of an operation's data; a missing one is null."""
    return lambda source, _: source.get(name) if isinstance(source, Mapping) else None


def _input(operation: Operation) -> gql.GraphQLArgument:
    """Return the parameters; all are nullable, so that a missing one gets the message of a single call."""
    fields = {}
    for parameter in operation.parameters:
        if parameter.local:
            continue
        kinds = [shape.kind for shape in (parameter.shape, *parameter.shape.alternatives)]
        scalar = next((_SCALARS[kind] for kind in kinds if kind in _SCALARS), _JSON)
        meaning = f"{'Required. ' if parameter.required else ''}{parameter.meaning}"
        name = graphql_name(parameter.name)
        fields[name] = gql.GraphQLInputField(scalar, description=meaning, out_name=parameter.name)
    kind = gql.GraphQLInputObjectType(f"{operation.name.capitalize()}Input", fields)
    return gql.GraphQLArgument(kind, description="The operation's parameters.")


def build_schema(operations: Iterable[Operation]) -> gql.GraphQLSchema:
    """Return the schema: a query type with a nullable root field for each operation, named like its path."""
    outputs = _Outputs()
    roots = {}
    for operation in operations:
        fields = {graphql_name(item.name): outputs.field(item) for item in operation.fields if not item.extra}
        data = gql.GraphQLObjectType(
            f"{operation.name.capitalize()}Data", fields, description=operation.summary
        )
        roots[graphql_name(operation.path)] = gql.GraphQLField(
            data, {INPUT: _input(operation)}, resolve=_caller(operation), description=operation.summary
        )
    return gql.GraphQLSchema(gql.GraphQLObjectType("Query", roots))


def _caller(operation: Operation) -> Callable[..., Any]:
    def resolve(root: Root, info: gql.GraphQLResolveInfo[Any], **arguments: Any) -> Any:
        return root(operation, str(info.path.key), arguments.get(INPUT))

    return resolve


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
    about_schema: gql.ExecutionResult = field(repr=False)  # the result of the query besides the calls
    document: gql.DocumentNode = field(repr=False)
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
        """Parse a query and collect its calls, without calling anything."""
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
        """Run a query's operations concurrently, and select the requested fields."""

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
        self, root: Root, document: gql.DocumentNode, variables: dict[str, Any], operation_name: str | None
    ) -> gql.ExecutionResult:
        return gql.execute_sync(
            self.schema,
            document,
            root_value=root,
            variable_values=variables,
            operation_name=operation_name,
            max_coercion_errors=1,
        )

    def _read(self, query: str) -> gql.DocumentNode:
        """Return the parsed query, checked and validated."""
        if len(query) > MAX_CHARACTERS:
            raise refusal(f"be at most {MAX_CHARACTERS} characters long")
        try:
            document = gql.parse(query, max_lexical_tokens=self._tokens, max_comments=self._tokens)
        except gql.GraphQLError as error:
            raise refusal(f"be valid GraphQL: {_located(error)}") from None
        fragments, queries = {}, []
        for node in document.definitions:
            if isinstance(node, gql.FragmentDefinitionNode):
                fragments[node.name.value] = node.selection_set
            elif isinstance(node, gql.OperationDefinitionNode) and node.operation is gql.OperationType.QUERY:
                queries.append(node.selection_set)
            else:
                raise refusal("be a query: no mutation and no subscription")
        size = _Size(fragments, self._most, self._depth, self._tokens)
        for selected in queries:
            size.add(selected, 1)
        for selected in fragments.values():
            size.add(selected, 2)
        errors = gql.validate(self.schema, document, max_errors=1)
        if errors:
            raise refusal(f"be valid GraphQL: {_located(errors[0])}")
        return document


class _Size:
    """How much a document asks for, its fragments in the places where they are spread."""

    def __init__(
        self, fragments: Mapping[str, gql.SelectionSetNode], operations: int, depth: int, fields: int
    ) -> None:
        self._fragments, self._operations, self._depth = fragments, operations, depth
        self._left, self._most = fields, fields
        self._called = 0

    def add(self, selected: gql.SelectionSetNode, depth: int) -> None:
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

    def _fields(self, selected: gql.SelectionSetNode, inside: tuple[str, ...]) -> Iterator[gql.FieldNode]:
        """Yield the fields of a selection, those of its fragments too."""
        for node in selected.selections:
            self._left -= 1
            if self._left < 0:
                raise refusal(f"hold at most {self._most} fields, those of repeated fragments counted again")
            if isinstance(node, gql.FieldNode):
                yield node
                continue
            name = node.name.value if isinstance(node, gql.FragmentSpreadNode) else ""
            if name in inside or len(inside) >= self._depth:
                raise refusal(f"hold fragments in each other at most {self._depth} deep")
            spread = self._fragments.get(name) if name else getattr(node, "selection_set", None)
            if spread is not None:  # of a fragment that is not there, the validation speaks
                yield from self._fields(spread, (*inside, name or f"... {len(inside)}"))


def _failure(result: Result) -> gql.GraphQLError:
    """Return the error of an operation that failed: the message and status of a single call."""
    return gql.GraphQLError(
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


def _check_name(document: gql.DocumentNode, name: str | None) -> None:
    """Refuse a name that none of the document's queries has, or a missing one that is required."""
    if gql.get_operation_ast(document, name) is not None:
        return
    if name is None:
        raise Problem(400, "The `operationName` parameter is required for a query of several operations.")
    raise Problem(400, "The `operationName` parameter must be the name of an operation of the query.")


def _line(message: str) -> str:
    r"""Return the library's message as the end of a sentence: one short line without controls.

    >>> _line("Syntax Error: Expected Name,\n  found <EOF>.")
    'Syntax Error: Expected Name, found <EOF>'
    """
    words = one_line(message[:1000])
    if len(words) > 160:
        return f"{words[:160].rstrip()}\u2026"
    return words.rstrip(".")


def _located(error: gql.GraphQLError) -> str:
    place = error.locations[0] if error.locations else None
    return _line(error.message) + (f" (line {place.line}, column {place.column})" if place else "")


OPERATION = "graphql"


class Queries:
    """Answers GraphQL requests."""

    def __init__(self, calls: Calls, endpoint: GraphQLEndpoint) -> None:
        self._calls = calls
        self._endpoint = endpoint

    async def run(self, caller: Caller, body: Mapping[str, Any]) -> Answer:
        """Answer one request; each operation in it that succeeds costs its credits."""
        asked = [body.get(name) for name in ("query", "variables", "operationName")]
        prepared = self._endpoint.parse(*asked)
        caller.record.inputs = len(prepared.calls)
        cost = sum(self._calls.price(operation) for operation, _ in prepared.calls.values())
        if not cost:
            answer, _ = await self._work(caller, prepared, Reservation(0, 0, 0))
            return answer
        call = self._calls.call(caller, OPERATION, 1, cost, OPERATION, asked)
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

            async def work() -> Result:
                async with window:
                    return await self._calls.compute(caller, operation, parameters)

            return await credits_held.pay(self._calls.price(operation), held.remaining, work)

        content = await self._endpoint.execute(prepared, run, premium=caller.plan.premium)
        return Answer(200, content), credits_held.spent
