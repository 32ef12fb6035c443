"""The GraphQL schema, made from the declarations: one root field for each operation that GraphQL offers."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints

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
from typing_extensions import is_typeddict

from webanalytics.operations import Operation
from webanalytics.operations.base import Field

INPUT = "input"
"""Name of the argument that holds an operation's parameters."""

Resolver = Callable[[Any, GraphQLResolveInfo[Any]], Any]

_SCALARS = {str: GraphQLString, bool: GraphQLBoolean, int: GraphQLInt, float: GraphQLFloat}
_JSON = GraphQLScalarType("JSON", description="Any JSON value: its inner structure is the page's own.")
_MARKS = (Required, NotRequired)


def graphql_name(name: str) -> str:
    """Return a name as GraphQL allows it: letters, digits and underscores.

    Examples
    --------
    >>> graphql_name("og:image:alt"), graphql_name("2fast")
    ('og_image_alt', '_2fast')
    """
    name = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"_{name}" if name[:1].isdigit() else name


def _read(name: str) -> Resolver:
    """Return a resolver that takes a field out of an operation's data; an absent one is null."""
    return lambda source, _: source.get(name) if isinstance(source, Mapping) else None


class _Types:
    """Turns annotations into GraphQL types, each TypedDict once."""

    def __init__(self) -> None:
        self._objects: dict[Any, GraphQLObjectType] = {}

    def output(self, annotation: Any) -> Any:
        """Return the type of a value in an answer; what may be null is not wrapped in NonNull."""
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin in _MARKS:
            return self.output(arguments[0])
        if origin in (types.UnionType, Union) and type(None) in arguments:
            parts = [part for part in arguments if part is not type(None)]
            return self._bare(parts[0]) if len(parts) == 1 else _JSON
        return GraphQLNonNull(self._bare(annotation))

    def _bare(self, annotation: Any) -> Any:
        if is_typeddict(annotation):
            return self._object(annotation)
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Literal:
            return _SCALARS.get(type(arguments[0]), GraphQLString)
        if origin is list and arguments:
            return GraphQLList(self.output(arguments[0]))
        return _SCALARS.get(annotation, _JSON)

    def _object(self, annotation: Any) -> GraphQLObjectType:
        if annotation not in self._objects:
            self._objects[annotation] = GraphQLObjectType(
                annotation.__name__,
                lambda: {
                    graphql_name(name): GraphQLField(
                        self._member(annotation, name, hint), resolve=_read(name)
                    )
                    for name, hint in get_type_hints(annotation, include_extras=True).items()
                },
                description=(annotation.__doc__ or "").partition("\n")[0] or None,
            )
        return self._objects[annotation]

    def _member(self, annotation: Any, name: str, hint: Any) -> Any:
        member = self.output(hint)
        required = name in annotation.__required_keys__ and get_origin(hint) is not NotRequired
        return member if required else _nullable(member)

    def field(self, field: Field) -> GraphQLField:
        """Return a field of an operation's data; a Premium one is null on plans without it."""
        output = self.output(field.type)
        meaning = f"Premium. {field.meaning}" if field.premium else field.meaning
        return GraphQLField(
            _nullable(output) if field.premium else output, resolve=_read(field.name), description=meaning
        )


def _nullable(output: Any) -> Any:
    return output.of_type if isinstance(output, GraphQLNonNull) else output


def _input_type(operation: Operation) -> GraphQLInputObjectType:
    """Return the parameters; none is NonNull, so that the sentence about a missing one is our own."""
    fields = {}
    for parameter in operation.parameters:
        if parameter.local:
            continue
        scalar = next((_SCALARS[kind] for kind in _scalar_kinds(parameter.type)), _JSON)
        meaning = f"{'Required. ' if parameter.required else ''}{parameter.meaning}"
        name = graphql_name(parameter.name)
        fields[name] = GraphQLInputField(scalar, description=meaning, out_name=parameter.name)
    return GraphQLInputObjectType(f"{operation.name.capitalize()}Input", fields)


def _scalar_kinds(annotation: Any) -> Iterable[type]:
    arguments = get_args(annotation)
    if get_origin(annotation) is Literal:
        return [type(arguments[0])]
    return [kind for kind in (arguments or (annotation,)) if kind in _SCALARS]


def build_schema(operations: Iterable[Operation], resolve: Resolver) -> GraphQLSchema:
    """Return the schema of the operations.

    Parameters
    ----------
    operations : iterable of Operation
        Those that GraphQL offers.
    resolve : callable
        Resolver of the root fields.

    Returns
    -------
    graphql.GraphQLSchema
        With a query type and no other. A root field is named like the operation's path and may be null:
        one that failed is.
    """
    known = _Types()
    roots = {}
    for operation in operations:
        shown = [field for field in operation.fields if not field.extra]
        data = GraphQLObjectType(
            f"{operation.name.capitalize()}Data",
            {graphql_name(field.name): known.field(field) for field in shown},
            description=operation.summary,
        )
        argument = GraphQLArgument(_input_type(operation), description="The operation's parameters.")
        roots[graphql_name(operation.path)] = GraphQLField(
            data,
            {INPUT: argument},
            resolve=lambda source, info, **_: resolve(source, info),
            description=operation.summary,
        )
    return GraphQLSchema(GraphQLObjectType("Query", roots))
