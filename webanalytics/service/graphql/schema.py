"""The GraphQL schema, made from the declarations when the service starts.

There is one root field for each operation that GraphQL offers; what answers it is the root value of an
execution, see `webanalytics.service.graphql.endpoint`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from graphql import (
    GraphQLArgument,
    GraphQLBoolean,
    GraphQLField,
    GraphQLFloat,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLResolveInfo,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLString,
)

from webanalytics.core.operations.types import Kind, Shape, shape_of
from webanalytics.operations import Field, Operation

INPUT = "input"
"""Name of the argument that holds an operation's parameters."""

Root = Callable[[Operation, str, Mapping[str, Any] | None], Any]
"""Root value of an execution: called with an operation, the name it answers under, and its parameters."""

_JSON = GraphQLScalarType("JSON", description="Any JSON value: its inner structure is the page's own.")
_SCALARS: dict[Kind, GraphQLScalarType] = {
    "string": GraphQLString,
    "boolean": GraphQLBoolean,
    "integer": GraphQLInt,
    "number": GraphQLFloat,
}


def graphql_name(name: str) -> str:
    """Return a name as GraphQL allows it: letters, digits and underscores.

    Examples
    --------
    >>> graphql_name("og:image:alt"), graphql_name("2fast")
    ('og_image_alt', '_2fast')
    """
    name = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"_{name}" if name[:1].isdigit() else name


class _Outputs:
    """Turns shapes into types of answers, each object once."""

    def __init__(self) -> None:
        self._objects: dict[Shape, GraphQLObjectType] = {}

    def output(self, shape: Shape, *, nullable: bool = False) -> Any:
        bare = self._bare(shape)
        return bare if nullable or shape.nullable else GraphQLNonNull(bare)

    def _bare(self, shape: Shape) -> Any:
        if shape.kind == "object":
            return self._object(replace(shape, nullable=False))
        if shape.kind == "list" and shape.items:
            return GraphQLList(self.output(shape.items))
        return _SCALARS.get(shape.kind, _JSON)

    def _object(self, shape: Shape) -> GraphQLObjectType:
        if shape not in self._objects:
            members = shape.members or {}
            fields = {
                graphql_name(name): GraphQLField(
                    self.output(member, nullable=not required), resolve=_reader(name)
                )
                for name, (member, required) in members.items()
            }
            self._objects[shape] = GraphQLObjectType(shape.name, fields, description=shape.meaning or None)
        return self._objects[shape]

    def field(self, field: Field) -> GraphQLField:
        """Return a field of an operation's data; a Premium one is null on plans without it."""
        output = self.output(shape_of(field.type), nullable=field.premium)
        meaning = f"Premium. {field.meaning}" if field.premium else field.meaning
        return GraphQLField(output, resolve=_reader(field.name), description=meaning)


def _reader(name: str) -> Callable[..., Any]:
    """Return a resolver that reads a field of an operation's data; a missing one is null."""
    return lambda source, _: source.get(name) if isinstance(source, Mapping) else None


def _input(operation: Operation) -> GraphQLArgument:
    """Return the parameters; all are nullable, so that a missing one gets the message of a single call."""
    fields = {}
    for parameter in operation.parameters:
        if parameter.local:
            continue
        kinds = [shape.kind for shape in (parameter.shape, *parameter.shape.alternatives)]
        scalar = next((_SCALARS[kind] for kind in kinds if kind in _SCALARS), _JSON)
        meaning = f"{'Required. ' if parameter.required else ''}{parameter.meaning}"
        name = graphql_name(parameter.name)
        fields[name] = GraphQLInputField(scalar, description=meaning, out_name=parameter.name)
    kind = GraphQLInputObjectType(f"{operation.name.capitalize()}Input", fields)
    return GraphQLArgument(kind, description="The operation's parameters.")


def build_schema(operations: Iterable[Operation]) -> GraphQLSchema:
    """Return the schema: a query type with a nullable root field for each operation, named like its path."""
    outputs = _Outputs()
    roots = {}
    for operation in operations:
        fields = {graphql_name(item.name): outputs.field(item) for item in operation.fields if not item.extra}
        data = GraphQLObjectType(f"{operation.name.capitalize()}Data", fields, description=operation.summary)
        roots[graphql_name(operation.path)] = GraphQLField(
            data, {INPUT: _input(operation)}, resolve=_caller(operation), description=operation.summary
        )
    return GraphQLSchema(GraphQLObjectType("Query", roots))


def _caller(operation: Operation) -> Callable[..., Any]:
    def resolve(root: Root, info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
        return root(operation, str(info.path.key), arguments.get(INPUT))

    return resolve
