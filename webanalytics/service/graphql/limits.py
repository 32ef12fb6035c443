"""What a GraphQL document may cost, decided from its text before it is validated or executed.

Fragments can make a short document describe billions of fields, and a field that is selected under many
aliases multiplies an answer. One walk, which stops at the allowed number of selections, checks a document
against every limit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
    print_ast,
)

from webanalytics.service.results import Problem


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """The bounds of one query.

    Attributes
    ----------
    operations : int
        Most charged fields.
    depth : int
        Deepest nesting of fields, fragments followed.
    selections : int
        Most fields and fragments, each fragment counted wherever it is spread.
    tokens, characters : int
        Longest text.
    definitions : int
        Most operations and fragments of the document.
    aliases : int
        How often an object's field may be selected under different names.
    schema_fields : int
        Most fields of the answer to introspection.
    """

    operations: int = 200
    depth: int = 16
    tokens: int = 12_000
    characters: int = 250_000
    selections: int = 4_000
    definitions: int = 100
    aliases: int = 10
    schema_fields: int = 20_000

    @property
    def nesting(self) -> int:
        """Deepest nesting of fragments in one selection set, which bounds the library's recursion."""
        return 4 * self.depth


def refusal(demand: str) -> Problem:
    """Return the error of a query that breaks a rule, as the end of "The parameter must"."""
    return Problem(400, f"The `query` parameter must {demand}.")


class DocumentCheck:
    """Checks one document, parsed but not validated, against the limits.

    ``charged`` are the names of the root fields that cost credits. ``visited`` counts the selections seen.
    """

    def __init__(self, document: DocumentNode, limits: QueryLimits, charged: Container[str]) -> None:
        self.visited = 0
        self._definitions = document.definitions
        self._limits = limits
        self._charged = charged
        self._fragments = {
            node.name.value: node for node in self._definitions if isinstance(node, FragmentDefinitionNode)
        }
        self._printed: dict[int, str] = {}

    def run(self) -> None:
        """Check every operation of the document.

        Raises
        ------
        Problem
            400 naming ``query`` and the bound.
        """
        if len(self._definitions) > self._limits.definitions:
            raise refusal(f"hold at most {self._limits.definitions} operations and fragments")
        for node in self._definitions:
            if isinstance(node, OperationDefinitionNode):
                self._check([node.selection_set], 1)

    def _check(self, selection_sets: Iterable[SelectionSetNode], depth: int) -> None:
        """Check the selection sets that are merged into one object, and those below them.

        Selections under one name must agree: GraphQL specification, section 5.3.2. Since agreeing is
        transitive and the schema has neither interfaces nor unions, comparing with the first is enough.
        """
        if depth > self._limits.depth:
            raise self._too_deep()
        merged = self._merge(selection_sets)
        names = Counter(nodes[0].name.value for nodes in merged.values())
        if depth == 1:
            charged = sum(names.pop(name) for name in list(names) if name in self._charged)
            if charged > self._limits.operations:
                raise refusal(f"hold at most {self._limits.operations} operations")
        for key, nodes in merged.items():
            if len(nodes) > 1 and len({self._print(node) for node in nodes}) > 1:
                raise refusal(f"not ask for different things under one name, `{key[:40]}`")
            inner = [node.selection_set for node in nodes if node.selection_set]
            if inner:
                self._check(inner, depth + 1)
        if any(count > self._limits.aliases for count in names.values()):
            raise refusal(f"select a field of an object at most {self._limits.aliases} times")

    def _merge(self, selection_sets: Iterable[SelectionSetNode]) -> dict[str, list[FieldNode]]:
        """Return the fields of selection sets by the name they answer under, fragments followed."""
        merged: dict[str, list[FieldNode]] = {}
        # with each selection the fragments around it, outermost first; inline ones have no name
        stack: list[tuple[SelectionNode, tuple[str, ...]]] = []
        stack.extend((node, ()) for item in selection_sets for node in item.selections)
        stack.reverse()
        while stack:
            node, around = stack.pop()
            self._count(around)
            if isinstance(node, FieldNode):
                merged.setdefault((node.alias or node.name).value, []).append(node)
            elif isinstance(node, InlineFragmentNode):
                within = (*around, "")
                stack.extend((inner, within) for inner in node.selection_set.selections[::-1])
            elif isinstance(node, FragmentSpreadNode) and node.name.value in self._fragments:
                name = node.name.value
                if name in around:
                    raise refusal("not spread a fragment within itself")
                within = (*around, name)
                selections = self._fragments[name].selection_set.selections
                stack.extend((inner, within) for inner in selections[::-1])
        return merged

    def _count(self, around: tuple[str, ...]) -> None:
        self.visited += 1
        if self.visited > self._limits.selections:
            most = self._limits.selections
            raise refusal(f"select at most {most} fields, those of repeated fragments counted")
        if len(around) > self._limits.nesting:
            raise self._too_deep()

    def _too_deep(self) -> Problem:
        return refusal(f"be nested at most {self._limits.depth} levels deep")

    def _print(self, node: FieldNode) -> str:
        """Return name and arguments of a field: equal text for equal requests."""
        if id(node) not in self._printed:
            arguments = sorted((item.name.value, print_ast(item.value)) for item in node.arguments or ())
            self._printed[id(node)] = f"{node.name.value} {arguments}"
        return self._printed[id(node)]
