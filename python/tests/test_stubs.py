"""The stubs of the compiled module say what is there: every name, every argument, every default."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import lkdl
from lkdl import _core

STUBS = Path(lkdl.__file__).with_name("_core.pyi")


def written() -> dict[str, ast.stmt]:
    tree = ast.parse(STUBS.read_text())
    found = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign) and node.target.id.isupper():
            found[node.target.id] = node
    return found


def arguments(node: ast.FunctionDef) -> list[tuple[str, object]]:
    names = [argument.arg for argument in node.args.args]
    given = [ast.literal_eval(default) for default in node.args.defaults]
    defaults = [inspect.Parameter.empty] * (len(names) - len(given)) + given
    return list(zip(names, defaults, strict=True))


def compiled(function: object) -> list[tuple[str, object]]:
    signature = inspect.signature(function)
    return [(p.name, p.default) for p in signature.parameters.values()]


def test_stubs_and_module_have_the_same_names():
    there = {name for name in dir(_core) if not name.startswith("_")}
    assert there == set(written())


def test_functions_have_the_same_arguments():
    for name, node in written().items():
        if isinstance(node, ast.FunctionDef):
            assert arguments(node) == compiled(getattr(_core, name)), name


def test_classes_have_the_same_members():
    for name, node in written().items():
        if not isinstance(node, ast.ClassDef) or name == "LkdlError":
            continue
        kind = getattr(_core, name)
        members = {m.name: m for m in node.body if isinstance(m, ast.FunctionDef)}
        assert {m for m in dir(kind) if not m.startswith("_")} == set(members), name
        for method, stub in members.items():
            decorators = {d.id for d in stub.decorator_list if isinstance(d, ast.Name)}
            attribute = inspect.getattr_static(kind, method)
            assert ("property" in decorators) == inspect.isgetsetdescriptor(attribute), method
            if "property" not in decorators:
                assert arguments(stub) == compiled(getattr(kind, method)), (name, method)


def test_the_package_is_typed_and_says_all_it_has():
    assert STUBS.with_name("py.typed").exists()
    assert all(hasattr(lkdl, name) for name in lkdl.__all__)
    assert lkdl.__version__ == _core.VERSION
    documented = [getattr(lkdl, name) for name in lkdl.__all__ if name != "__version__"]
    assert all(inspect.getdoc(thing) for thing in documented)
