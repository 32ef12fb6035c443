"""Mutants of a module, and how one is put into a process that has the module already."""

from __future__ import annotations

import ast
import copy
import re
import sys
from collections.abc import Iterator
from ipaddress import IPv6Network
from types import CodeType, FunctionType
from typing import Any, NamedTuple

PLAIN = (str, int, float, tuple, frozenset, re.Pattern, IPv6Network, type(None))
STATEMENT = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|FROM|WHERE)\b")
WORDS = {"<=": "<", ">=": ">", "<": "<=", ">": ">=", "=": "<>", "+": "-", "-": "+", "AND": "OR", "OR": "AND"}
WORD = re.compile(
    r"(?<= )(<=|>=|[<>=+-]|AND|OR|NOT|DESC|LIMIT \S+|ORDER BY [\w, ]+|FOR [A-Z ]*UPDATE[A-Z ]*)(?= |$|\n|\))"
)

OTHER: dict[type[ast.AST], type[Any]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
}  # fmt: skip


class _Put(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if node is self.old else self.generic_visit(node)


class Mutant(NamedTuple):
    """Where and how a changed module differs."""

    whole: ast.Module
    old: ast.AST
    new: ast.AST
    place: tuple[tuple[str, int], ...]  # the classes and the outermost function that it stands in, if any

    @property
    def lines(self) -> range:
        """The lines of what differs."""
        first = getattr(self.old, "lineno", 0)
        return range(first, getattr(self.old, "end_lineno", first) + 1)

    @property
    def change(self) -> str:
        """What stands in place of what."""
        return "  ->  ".join(" ".join(ast.unparse(item).split())[:400] for item in (self.old, self.new))

    def tree(self) -> ast.Module:
        """Return the changed module."""
        known: dict[int, Any] = {}
        whole = copy.deepcopy(self.whole, known)
        made = _Put(known[id(self.old)], self.new).visit(whole)
        return ast.fix_missing_locations(made)


def nodes(
    tree: ast.AST, place: tuple[tuple[str, int], ...] = (), inside: bool = False
) -> Iterator[tuple[ast.AST, Any]]:
    """Yield what may be changed, and in which function: no annotations, decorators and docstrings."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        here, within = place, inside
        if (
            isinstance(tree, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and not inside
            and field == "body"
        ):
            line = min([tree.lineno, *(item.lineno for item in tree.decorator_list)])
            here, within = (*place, (tree.name, line)), not isinstance(tree, ast.ClassDef)
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST) and not (
                isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)
            ):
                yield item, here if within else ()
                yield from nodes(item, here, within)


def changed(node: Any) -> Iterator[ast.AST]:
    """Yield what may stand in place of a node."""
    new = copy.deepcopy(node)
    match node:
        case ast.Compare():
            for place, op in enumerate(node.ops):
                new = copy.deepcopy(node)
                new.ops[place] = OTHER[type(op)]()
                yield new
        case ast.BoolOp() | ast.BinOp() | ast.AugAssign() if type(node.op) in OTHER:
            new.op = OTHER[type(node.op)]()
            yield new
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int() | float()):
            yield ast.Constant(node.value + 1)
        case ast.Constant(value=str()) if STATEMENT.match(node.value):
            for found in WORD.finditer(node.value):
                start, end = found.span()
                yield ast.Constant(node.value[:start] + WORDS.get(found[0], "") + node.value[end:])
        case ast.Constant(value=str()) if node.value and not any(map(str.isspace, node.value)):
            yield ast.Constant(node.value + "x")  # a sentence is another matter
        case ast.If() | ast.While() | ast.IfExp() if isinstance(
            node.test, ast.Name | ast.Attribute | ast.Call
        ):
            new.test = ast.UnaryOp(ast.Not(), node.test)
            yield new
        case ast.Return(value=ast.AST()) if not (
            isinstance(node.value, ast.Constant) and node.value.value is None
        ):
            yield ast.Return(ast.Constant(None))
        case ast.Expr() | ast.Raise():
            yield ast.Pass()


def mutants(source: str) -> list[Mutant]:
    """Return every mutant of a module."""
    tree = ast.parse(source)
    return [Mutant(tree, node, new, place) for node, place in nodes(tree) for new in changed(node)]


def code_at(whole: CodeType, place: tuple[tuple[str, int], ...]) -> CodeType:
    """Return the code of a function in that of a module."""
    for name, line in place:
        (whole,) = (
            item
            for item in whole.co_consts
            if isinstance(item, CodeType) and (item.co_name, item.co_firstlineno) == (name, line)
        )
    return whole


def functions(found: Any) -> Iterator[FunctionType]:
    """Yield a function, and what decorators have put something around."""
    if isinstance(found, FunctionType):
        yield found
    for name in ("__wrapped__", "__func__", "fget", "fset", "func"):
        inner = getattr(found, name, None)
        if inner is not None and inner is not found:
            yield from functions(inner)


def put(module: str, mutant: Mutant) -> bool:
    """Give the function of this process that differs its new code."""
    live: Any = sys.modules[f"webanalytics.{module.replace('/', '.')}"]
    file = live.__file__
    if not mutant.place:
        return put_values(live, compile(mutant.tree(), file, "exec", dont_inherit=True))
    for name, _ in mutant.place:
        live = vars(live).get(name)
    new = code_at(compile(mutant.tree(), file, "exec", dont_inherit=True, flags=0), mutant.place)
    for function in functions(live):
        old = function.__code__
        if old.co_firstlineno == new.co_firstlineno and old.co_freevars == new.co_freevars:
            function.__code__ = new
            return True
    return False


def put_values(live: Any, code: CodeType) -> bool:
    """Give a module and those that import them the constants and default values that differ, if any do."""
    made = {"__name__": live.__name__, "__file__": live.__file__}
    exec(code, made)
    differ = different(vars(live), made)
    for name, value in differ.items():
        old = vars(live).get(name)
        for module in list(sys.modules.values()):
            if getattr(module, "__name__", "").startswith("webanalytics.") and vars(module).get(name) is old:
                setattr(module, name, value)
    return bool(put_defaults(vars(live), made) or differ)


def different(old: Any, new: Any) -> dict[str, Any]:
    """Return the plain values that differ from those of the same name."""
    return {
        name: value
        for name, value in new.items()
        if isinstance(value, PLAIN) and isinstance(old.get(name), PLAIN) and repr(value) != repr(old[name])
    }


def put_defaults(old: Any, new: Any) -> bool:
    """Give functions and classes the default values that differ; return whether any do."""
    done = False
    for name, made in new.items():
        live = old.get(name)
        if isinstance(made, dict) and isinstance(live, dict) and different(live, made):
            live.update(different(live, made))
            done = True
        if isinstance(made, type) and isinstance(live, type) and made.__module__ == new.get("__name__"):
            for item, value in different(vars(live), vars(made)).items():
                if not item.startswith("__"):
                    setattr(live, item, value)
                    done = True
            inner = {**vars(made), "__name__": made.__module__}
            done |= put_defaults(vars(live), inner)
        for function, other in zip(functions(live), functions(made), strict=False):
            for kind in ("__defaults__", "__kwdefaults__"):
                values = getattr(other, kind) or ()
                plain = values.values() if isinstance(values, dict) else values
                if repr(values) != repr(getattr(function, kind) or ()) and all(
                    isinstance(item, PLAIN) or " object " not in repr(item) for item in plain
                ):
                    setattr(function, kind, values)
                    done = True
    return done
