"""Translate the source of a kernel to C.

A kernel is written in a subset of Python: numbers, arrays, loops, conditions and nested functions.
Every construct has a C equivalent, and this module translates statement by statement:

    def element(a0):                        DEVICE float32 element_float32(float32 a0)
        t0 = math.tanh(a0)                  {
        return t0                               float32 t0 = tanh(a0);
                                                return t0;
                                            }

The differences between CUDA, OpenCL and others (`KERNEL`, `SHARED`, `BARRIER`, `THREAD`, the names
of types, atomic operations) are macros and small functions of a *prelude*, which a target puts
before the translation; `mt_cuda.cubins.nvrtc` has that of CUDA, and defines each of them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from mt_cuda.c.expressions import Expressions
from mt_cuda.c.values import BITS, COMPARED, INDEX, LITERAL, OPERATORS, PRODUCT, Value
from mt_cuda.core.kernel import Kernel, Lines, indented

GLOBAL, SHARED = "GLOBAL", "SHARED_POINTER"
"""The macros before pointers to global memory, and to shared memory of a block."""

LONGEST = 100
"""The maximum length of the head of a function; in longer ones, each parameter is on a line."""


def to_c(kernel: Kernel) -> str:
    """Translate a kernel to C; the functions nested in it come first.

    Raises:
        KernelError: the source uses something unsupported; the message quotes it.
    """
    (tree,) = ast.parse(kernel.source).body
    body: Sequence[ast.stmt] = getattr(tree, "body", ())
    inside = [each for each in body if isinstance(each, ast.FunctionDef)]
    functions = Nested(kernel.name, {function.name: function for function in inside})
    arguments, declared = {}, []
    for each in kernel.parameters:
        if each.passed == "value":
            arguments[each.name] = Value(each.name, each.type)
            declared.append(f"{each.type} {each.name}")
        else:
            arguments[each.name] = Value(each.name, each.type, shape=(), space=GLOBAL)
            declared.append(f"{GLOBAL} {each.type} *{each.name}")
    body = [each for each in body if not isinstance(each, ast.FunctionDef)]
    lines = Statements(kernel.name, functions, arguments).block(body)
    return "\n".join([*functions.text, *_function(f"KERNEL void {kernel.name}", declared, lines)])


class Nested:
    """The functions inside a kernel, each translated for the types of its arguments.

    Attributes:
        text: the translations; callees precede callers.
    """

    def __init__(self, kernel: str, trees: dict[str, ast.FunctionDef]) -> None:
        self.kernel = kernel
        self.trees = trees
        self.text: Lines = []
        self.results: dict[str, tuple[str, ...]] = {}

    def arity(self, name: str) -> int | None:
        """Return the number of parameters of a function; None if there is none with this name."""
        return len(self.trees[name].args.args) if name in self.trees else None

    def call(self, name: str, arguments: Sequence[Value]) -> tuple[str, tuple[str, ...]]:
        """Return the C name of a function for these arguments, and the types of its results."""
        types = ["int64" if each.type == LITERAL else each.type for each in arguments]
        full = "_".join([name, *dict.fromkeys(types)])
        if full not in self.results:
            self.results[full] = self._write(full, self.trees[name], types)
        return full, self.results[full]

    def _write(self, full: str, tree: ast.FunctionDef, types: Sequence[str]) -> tuple[str, ...]:
        names = [each.arg for each in tree.args.args]
        values = {name: Value(name, kind) for name, kind in zip(names, types, strict=True)}
        function = Statements(self.kernel, self, values, wraps=True)
        lines = function.block(tree.body)
        if not function.results:
            function.refuse(tree, "returns nothing")
        declared = [f"{kind} {name}" for kind, name in zip(types, names, strict=True)]
        returned, *others = function.results
        if others:
            returned = "void"
            declared += [f"{kind} *result{k}" for k, kind in enumerate(function.results)]
        self.text += [*_function(f"DEVICE {returned} {full}", declared, lines)]
        return function.results


class Statements(Expressions):
    """A translator of the statements of one function.

    A variable is declared at its first assignment, with the type of the value, and belongs to that
    block: it cannot be read after the block.

    Attributes:
        results: the types of its results.
    """

    def __init__(
        self, kernel: str, functions: Nested, arguments: dict[str, Value], *, wraps: bool = False
    ) -> None:
        super().__init__(kernel, functions, dict(arguments), wraps=wraps)
        self.functions: Nested = functions
        self.results: tuple[str, ...] = ()

    def block(self, statements: Sequence[ast.stmt]) -> Lines:
        """Translate statements, and forget the variables that they declare."""
        outer, lines = dict(self.names), []
        for statement in statements:
            if isinstance(statement, (ast.For, ast.While)) and statement.orelse:
                self.refuse(statement, "has an else clause")
            kind = type(statement).__name__.lower()
            lines += getattr(self, f"do_{kind}", self.refuse)(statement)
        self.names = outer
        return lines

    def do_assign(self, node: ast.Assign) -> Lines:
        """Translate an assignment, which declares a new variable."""
        if len(node.targets) > 1:
            self.refuse(node, "assigns to several targets")
        (target,) = node.targets
        if isinstance(target, ast.Tuple):
            return self.unpack(target, node.value)
        if not isinstance(target, ast.Name):
            place = self.value(target)
            return [f"{place.text} = {self.value(node.value).stored(place.type)};"]
        if isinstance(node.value, ast.Subscript) and isinstance(node.value.slice, ast.Slice):
            return self.pointer(target, node.value.value, node.value.slice)
        if isinstance(node.value, ast.Call):
            called = ast.unparse(node.value.func)
            if called == "cuda.shared.array":
                return self.array(target.id, node.value, SHARED)
            if called == "cuda.local.array":
                return self.array(target.id, node.value, "")
            if called.startswith("load"):
                return self.lanes(target.id, node.value)
        value = self.value(node.value)
        declared = self.declared(target, "int64" if value.type == LITERAL else value.type)
        return [f"{declared}{target.id} = {value.stored(self.names[target.id].type)};"]

    def declared(self, target: ast.expr, kind: str) -> str:
        """Return the type to write before an assignment; empty unless it declares the variable."""
        if not isinstance(target, ast.Name):
            self.refuse(target, "is not a variable")
        if target.id in self.names:
            return ""
        self.names[target.id] = Value(target.id, kind)
        return f"{kind} "

    def unpack(self, target: ast.Tuple, node: ast.expr) -> Lines:
        """Translate the assignment of the results of a function to several variables."""
        function = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        arity = self.functions.arity(function)
        if not isinstance(node, ast.Call) or arity is None:
            self.refuse(node, "does not return several values")
        arguments = self.arguments(node, arity)
        called, types = self.functions.call(function, arguments)
        names = [ast.unparse(each) for each in target.elts]
        if len(names) != len(types):
            self.refuse(node, f"returns {len(types)} value(s), not {len(names)}")
        lines = [
            f"{declared}{name};"
            for each, name, kind in zip(target.elts, names, types, strict=True)
            if (declared := self.declared(each, kind))
        ]
        passed = [*(each.text for each in arguments), *(f"&{name}" for name in names)]
        return [*lines, f"{called}({', '.join(passed)});"]

    def pointer(self, target: ast.Name, storage: ast.expr, part: ast.Slice) -> Lines:
        """Translate a slice without an end to a pointer."""
        memory = self.value(storage)
        if not memory.space or part.lower is None or part.upper or part.step:
            why = "is not a slice `x[n:]` of global or shared memory"
            self.refuse(ast.Subscript(storage, part), why)
        declared = "" if target.id in self.names else f"{memory.space} {memory.type} *"
        if not declared and self.names[target.id].space != memory.space:
            self.refuse(target, "is not a pointer to this memory")
        self.names[target.id] = Value(target.id, memory.type, shape=(), space=memory.space)
        return [f"{declared}{target.id} = {_place(memory, self.value(part.lower))};"]

    def array(self, name: str, node: ast.Call, where: str) -> Lines:
        """Translate the declaration of an array of the block or the thread."""
        try:
            size, element = node.args
            shape = ast.literal_eval(size)
        except ValueError:
            self.refuse(node, "does not have a constant shape and a type")
        sizes = shape if isinstance(shape, tuple) else (shape,)
        self.names[name] = Value(name, ast.unparse(element), shape=sizes, space=where)
        head = "SHARED LANES " if where else ""
        return [f"{head}{self.names[name].type} {name}{''.join(f'[{each}]' for each in sizes)};"]

    def lanes(self, name: str, node: ast.Call) -> Lines:
        """Translate a load of 16 bytes."""
        memory, at = self.arguments(node, 2)
        if not memory.space or memory.type not in BITS:
            why = "loads from memory that is neither shared nor global, or from bools"
            self.refuse(node, why)
        count = 128 // BITS[memory.type]
        self.names[name] = Value(name, memory.type, shape=(count,))
        return [
            f"LANES {memory.type} {name}[{count}];",
            f"LOAD_LANES({memory.space}, {name}, {_place(memory, at)});",
        ]

    def do_augassign(self, node: ast.AugAssign) -> Lines:
        """Translate an update of a variable or an element."""
        place = self.value(node.target)
        value = self.value(ast.BinOp(node.target, node.op, node.value))
        start = f"{place.text} {OPERATORS[type(node.op)][0]} "
        if value.type == place.type and value.text.startswith(start):
            return [f"{start[:-1]}= {value.text.removeprefix(start)};"]
        return [f"{place.text} = {value.stored(place.type)};"]

    def do_expr(self, node: ast.Expr) -> Lines:
        """Translate a call without a result: a barrier, a store or an atomic operation."""
        called = ast.unparse(node.value.func) if isinstance(node.value, ast.Call) else ""
        if called == "cuda.syncthreads":
            return ["BARRIER;"]
        if not isinstance(node.value, ast.Call) or not called.startswith(("cuda.atomic.", "store")):
            self.refuse(node)
        memory, at, value = self.arguments(node.value, 3)
        if called.startswith("store"):
            items = ", ".join(each.stored(memory.type) for each in value.items)
            return [
                "{",
                f"    LANES {memory.type} lanes[{len(value.items)}] = {{{items}}};",
                f"    STORE_LANES({memory.space}, {_place(memory, at)}, lanes);",
                "}",
            ]
        name = f"atomic_{called.rpartition('.')[2]}_{memory.type}"
        return [f"{name}({_place(memory, at)}, {value.stored(memory.type)});"]

    def do_while(self, node: ast.While) -> Lines:
        """Translate a while loop."""
        return [f"while ({self.value(node.test).text}) {{", *indented(self.block(node.body)), "}"]

    def do_for(self, node: ast.For) -> Lines:
        """Translate a loop over `range(n)`, which is unrolled if `n` is a literal."""
        if not isinstance(node.iter, ast.Call) or ast.unparse(node.iter.func) != "range":
            self.refuse(node)
        name, (end,) = ast.unparse(node.target), self.arguments(node.iter, 1)
        kind, outer = INDEX if end.type == LITERAL else end.type, dict(self.names)
        self.names[name] = Value(name, kind)
        head = f"for ({kind} {name} = 0; {name} < {end.operand(COMPARED + 1)}; {name}++) {{"
        lines = [head, *indented(self.block(node.body)), "}"]
        self.names = outer
        return ["UNROLL", *lines] if end.type == LITERAL else lines

    def do_if(self, node: ast.If) -> Lines:
        """Translate a condition."""
        lines = [f"if ({self.value(node.test).text}) {{", *indented(self.block(node.body))]
        if node.orelse:
            lines += ["} else {", *indented(self.block(node.orelse))]
        return [*lines, "}"]

    def do_return(self, node: ast.Return) -> Lines:
        """Translate a return; several results are written through pointers."""
        if node.value is None:
            self.refuse(node, "returns nothing")
        returned = self.value(node.value)
        values = returned.items or (returned,)
        types = tuple("int64" if value.type == LITERAL else value.type for value in values)
        self.results = self.results or types
        if len(types) != len(self.results):
            self.refuse(node, "returns another number of values than before")
        texts = [value.stored(kind) for value, kind in zip(values, self.results, strict=True)]
        if len(texts) == 1:
            return [f"return {texts[0]};"]
        return [f"*result{k} = {text};" for k, text in enumerate(texts)]


def _place(memory: Value, at: Value) -> str:
    """Return the address of an element."""
    return f"{memory.text} + {at.operand(PRODUCT)}"


def _function(head: str, parameters: Sequence[str], lines: Lines) -> Lines:
    """Return the lines of a function, followed by an empty line."""
    first = [f"{head}({', '.join(parameters)})"]
    if len(first[0]) > LONGEST:
        first = [
            f"{head}(",
            *indented([f"{p}," for p in parameters[:-1]]),
            f"    {parameters[-1]})",
        ]
    return [*first, "{", *indented(lines), "}", ""]
