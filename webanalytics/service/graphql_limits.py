"""What a GraphQL document may cost, decided from its text before anything is validated or executed.

Validation by the library takes time that grows with the square of a document's size, and fragments can
make a short document describe billions of fields. Everything here takes time linear in the text, or in
the number of selections that is allowed.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    OperationDefinitionNode,
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
    tokens : int
        Most tokens of the text.
    characters : int
        Longest text.
    selections : int
        Most fields and fragments, each fragment counted wherever it is spread.
    definitions : int
        Most operations and fragments of the document.
    aliases : int
        How often an object's field may be selected under different names.
    schema_fields : int
        Most fields of the answer to questions about the schema.
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
        """Deepest nesting of fields and fragments together, which bounds our own recursion."""
        return 4 * self.depth


def _problem(demand: str) -> Problem:
    return Problem(400, f"The `query` parameter must {demand}.")


class DocumentCheck:
    """Holds one document to the limits.

    Parameters
    ----------
    document : graphql.DocumentNode
        Parsed, not validated.
    limits : QueryLimits
        The bounds.
    charged : container of str
        Names of the root fields that cost credits.
    """

    def __init__(self, document: DocumentNode, limits: QueryLimits, charged: Container[str]) -> None:
        self._definitions = document.definitions
        self._limits = limits
        self._charged = charged
        self.fragments = {
            node.name.value: node for node in self._definitions if isinstance(node, FragmentDefinitionNode)
        }
        self._measured: dict[str, tuple[int, int]] = {}
        self._open: set[str] = set()
        self._printed: dict[int, str] = {}

    def run(self) -> None:
        """Check every operation of the document, and the fragments that none of them uses.

        Raises
        ------
        Problem
            400 naming ``query`` and the bound.
        """
        limits = self._limits
        if len(self._definitions) > limits.definitions:
            raise _problem(f"hold at most {limits.definitions} operations and fragments")
        operations = [node for node in self._definitions if isinstance(node, OperationDefinitionNode)]
        total = sum(self._measure_fragment(name, 0)[0] for name in self.fragments)
        total += sum(self._measure(node.selection_set, 0)[0] for node in operations)
        for node in operations:
            self._check_roots(node)
        if total > limits.selections:
            raise _problem(f"select at most {limits.selections} fields, those of repeated fragments counted")
        for node in operations:
            self._check_merged([node.selection_set], True)

    def _measure(self, selection_set: SelectionSetNode | None, nesting: int) -> tuple[int, int]:
        """Return the number of selections, fragments followed, and the depth of fields."""
        if nesting > self._limits.nesting:
            raise self._too_deep()
        count = depth = 0
        for selection in selection_set.selections if selection_set else ():
            if isinstance(selection, FragmentSpreadNode):
                inner, below = self._measure_fragment(selection.name.value, nesting + 1)
            else:
                assert isinstance(selection, FieldNode | InlineFragmentNode)  # noqa: S101 - there is no fourth
                inner, below = self._measure(selection.selection_set, nesting + 1)
                below += isinstance(selection, FieldNode)
            count += 1 + inner
            depth = max(depth, below)
        if depth > self._limits.depth:
            raise self._too_deep()
        return count, depth

    def _measure_fragment(self, name: str, nesting: int) -> tuple[int, int]:
        if name in self._open:
            raise _problem("not spread a fragment within itself")
        if name not in self._measured and name in self.fragments:
            self._open.add(name)
            self._measured[name] = self._measure(self.fragments[name].selection_set, nesting)
            self._open.discard(name)
        return self._measured.get(name, (0, 0))  # an unknown fragment is the validation's to tell

    def _too_deep(self) -> Problem:
        return _problem(f"be nested at most {self._limits.depth} levels deep")

    def _check_roots(self, operation: OperationDefinitionNode) -> None:
        merged = self.merge([operation.selection_set])
        charged = sum(nodes[0].name.value in self._charged for nodes in merged.values())
        if charged > self._limits.operations:
            raise _problem(f"hold at most {self._limits.operations} operations")

    def _check_merged(self, selection_sets: Iterable[SelectionSetNode], root: bool = False) -> None:
        """Check that selections under one name agree, as the GraphQL specification, section 5.3.2, demands.

        The library compares each pair of them; since agreeing is transitive and the schema has neither
        interfaces nor unions, comparing with the first one is enough.
        """
        aliases: dict[str, int] = {}
        for key, nodes in self.merge(selection_sets).items():
            name = nodes[0].name.value
            if len(nodes) > 1 and len({self._print(node) for node in nodes}) > 1:
                raise _problem(f"not ask for different things under one name, `{key[:40]}`")
            if not (root and name in self._charged):
                aliases[name] = aliases.get(name, 0) + 1
                if aliases[name] > self._limits.aliases:
                    raise _problem(f"select a field of an object at most {self._limits.aliases} times")
            inner = [node.selection_set for node in nodes if node.selection_set]
            if inner:
                self._check_merged(inner)

    def _print(self, node: FieldNode) -> str:
        """Return name and arguments of a field, the same text for fields that ask for the same."""
        if id(node) not in self._printed:
            arguments = sorted((item.name.value, print_ast(item.value)) for item in node.arguments or ())
            self._printed[id(node)] = f"{node.name.value} {arguments}"
        return self._printed[id(node)]

    def merge(self, selection_sets: Iterable[SelectionSetNode]) -> dict[str, list[FieldNode]]:
        """Return the fields of selection sets by the name they answer under, fragments followed once."""
        merged: dict[str, list[FieldNode]] = {}
        visited: set[str] = set()
        stack = [node for item in selection_sets for node in item.selections][::-1]
        while stack:
            node = stack.pop()
            if isinstance(node, FieldNode):
                merged.setdefault((node.alias or node.name).value, []).append(node)
            elif isinstance(node, InlineFragmentNode):
                stack.extend(node.selection_set.selections[::-1])
            elif isinstance(node, FragmentSpreadNode) and node.name.value in self.fragments.keys() - visited:
                visited.add(node.name.value)
                stack.extend(self.fragments[node.name.value].selection_set.selections[::-1])
        return merged
