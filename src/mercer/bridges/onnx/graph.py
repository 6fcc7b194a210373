"""An ONNX graph that records computations with its values, which look like computations with arrays."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from ...backend import need
from ...errors import InputError

Operand: TypeAlias = "Value | np.ndarray | np.generic | float"
"""What a node takes. Arrays and numbers become constants of the graph."""


class Value:
    """A node's output. Arithmetic with other values and with arrays adds nodes. In-place operators rename it."""

    __array_ufunc__ = None  # so that array + value calls __radd__

    def __init__(self, graph: "Graph", name: str):
        self.graph, self.name = graph, name

    def __add__(self, other: Operand) -> "Value":
        return self.graph.add("Add", self, other)

    def __sub__(self, other: Operand) -> "Value":
        return self.graph.add("Sub", self, other)

    def __mul__(self, other: Operand) -> "Value":
        return self.graph.add("Mul", self, other)

    def __truediv__(self, other: Operand) -> "Value":
        return self.graph.add("Div", self, other)

    def __pow__(self, other: Operand) -> "Value":
        return self.graph.add("Pow", self, other)

    def __matmul__(self, other: Operand) -> "Value":
        return self.graph.add("MatMul", self, other)

    def __rsub__(self, other: Operand) -> "Value":
        return self.graph.add("Sub", other, self)

    def __rtruediv__(self, other: Operand) -> "Value":
        return self.graph.add("Div", other, self)

    def __neg__(self) -> "Value":
        return self * -1.0

    def __lt__(self, other: float) -> "Value":
        return self.graph.add("Less", self, other)

    def __le__(self, other: Operand) -> "Value":
        return self.graph.add("LessOrEqual", self, other)

    def __gt__(self, other: float) -> "Value":
        return self.graph.add("Greater", self, other)

    def __and__(self, other: "Value") -> "Value":
        return self.graph.add("And", self, other)

    __radd__, __rmul__ = __add__, __mul__

    def become(self, other: "Value") -> "Value":
        """Replace this value by the result of an operation."""
        self.name = other.name
        return self

    def exp_(self) -> "Value":
        """The exponential in place, as for a torch tensor."""
        return self.become(self.graph.add("Exp", self))

    def __iadd__(self, other: Operand) -> "Value":
        return self.become(self + other)

    def __isub__(self, other: Operand) -> "Value":
        return self.become(self - other)

    def __imul__(self, other: Operand) -> "Value":
        return self.become(self * other)

    def __itruediv__(self, other: Operand) -> "Value":
        return self.become(self / other)

    def __ipow__(self, other: Operand) -> "Value":
        return self.become(self**other)

    def reduce(self, how: str, axis: int = -1, keep: bool = False) -> "Value":
        """Sum, Min, Max or LogSumExp along an axis."""
        return self.graph.add(f"Reduce{how}", self, np.array([axis]), keepdims=int(keep))

    def cast(self, dtype: DTypeLike | None) -> "Value":
        """The numbers converted to another type."""
        return self.graph.add("Cast", self, to=self.graph.type_of(dtype))

    def take(self, rows: Operand, axis: int = 0) -> "Value":
        """Entries along an axis, by their numbers in an array or a value."""
        return self.graph.add("Gather", self, rows, axis=axis)

    def column(self) -> "Value":
        """(n,) as (n, 1), (n, d) as (n, d, 1)."""
        return self.graph.add("Unsqueeze", self, np.array([-1]))

    def against(self, rows: Operand) -> "Value":
        """(n, d) as (n, 1, d), less rows (m, d) or (n, m, d)."""
        return self.graph.add("Unsqueeze", self, np.array([1])) - rows

    def flat(self) -> "Value":
        """(n, 1) as (n,)."""
        return self.graph.add("Squeeze", self, np.array([1]))


class Functions:
    """NumPy's functions for values, as kernels call them in `profile(squared, xp)`."""

    def __init__(self, graph: "Graph") -> None:
        self.graph = graph

    def _of(self, op: str, value: "Value", out: "Value | None") -> "Value":
        found = self.graph.add(op, value)
        return found if out is None else out.become(found)

    def exp(self, value: "Value", out: "Value | None" = None) -> "Value":
        return self._of("Exp", value, out)

    def log(self, value: "Value", out: "Value | None" = None) -> "Value":
        return self._of("Log", value, out)

    def sqrt(self, value: "Value", out: "Value | None" = None) -> "Value":
        return self._of("Sqrt", value, out)

    def tanh(self, value: "Value", out: "Value | None" = None) -> "Value":
        return self._of("Tanh", value, out)

    def cos(self, value: "Value", out: "Value | None" = None) -> "Value":
        return self._of("Cos", value, out)

    def sin(self, value: "Value", out: "Value | None" = None) -> "Value":
        return self._of("Sin", value, out)

    def abs(self, value: "Value", out: "Value | None" = None) -> "Value":
        return self._of("Abs", value, out)

    def maximum(self, a: Operand, b: Operand) -> "Value":
        """The larger of the two, entry by entry."""
        return self.graph.add("Max", a, b)

    def minimum(self, a: Operand, b: Operand) -> "Value":
        """The smaller of the two, entry by entry."""
        return self.graph.add("Min", a, b)

    def where(self, which: "Value", a: Operand, b: Operand) -> "Value":
        """a where `which`, else b."""
        return self.graph.add("Where", which, a, b)

    def concatenate(self, values: list, axis: int = 1) -> "Value":
        """Values side by side."""
        return self.graph.add("Concat", *values, axis=axis)

    def softmax(self, value: "Value", axis: int = -1) -> "Value":
        """Rows that sum to one."""
        return self.graph.add("Softmax", value, axis=axis)

    def argmax(self, value: "Value") -> "Value":
        """(n,) the place of the largest entry of each row, the first of equal ones."""
        return self.graph.add("ArgMax", value, axis=1, keepdims=0)

    def smallest(self, value: "Value", k: int) -> "Value":
        """(n, k) places of the k smallest entries of each row, rising."""
        return self.graph.add("TopK", value, np.array([k]), largest=0, sorted=1, outputs=2)[1]


class Graph:
    """A graph whose inputs of numbers are of one type, and are read as float64.

    Attributes
    ----------
    xp : functions of values.
    """

    def __init__(self, dtype: np.dtype) -> None:
        self.helper, self.numpy = need("onnx.helper"), need("onnx.numpy_helper")
        self.dtype, self._count = dtype, 0
        self.nodes: list = []
        self.initializers: list = []
        self._kept: dict = {}
        self.inputs: list = []
        self.xp = Functions(self)

    def input(self, name: str, kind: Any = float, width: int = 1) -> Value:
        """A new input (n, width) of numbers, or of text where `kind` is str."""
        number = self.type_of(object if kind is str else self.dtype)
        self.inputs.append(self.helper.make_tensor_value_info(name, number, ["n", int(width)]))
        value = Value(self, name)
        return value if kind is str else value.cast(np.float64)

    def type_of(self, dtype: DTypeLike | None) -> int:
        """ONNX's number of a type."""
        return self.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))

    def add(self, op: str, *inputs: Any, outputs: int = 1, domain: str = "", **attributes: Any) -> Any:
        """The output of a new node, or a tuple of them. Arrays and numbers among the inputs become constants."""
        names = [self._name() for _ in range(outputs)]
        given = [value.name if isinstance(value, Value) else self._constant(value) for value in inputs]
        self.nodes.append(self.helper.make_node(op, given, names, domain=domain, **attributes))
        values = tuple(Value(self, name) for name in names)
        return values[0] if outputs == 1 else values

    def constant(self, array: Any) -> Value:
        """An array as a value."""
        return Value(self, self._constant(array))

    def finish(self, outputs: dict) -> Any:
        """The model with these outputs by name. Floating-point outputs have the type of the input."""
        infos, taken = [], {info.name for info in self.inputs}
        for name, (value, kind, width) in outputs.items():
            if name in taken:
                raise InputError(
                    f"A column is called {name!r}, which is also the name of an output. Rename it and fit again."
                )
            kind = self.dtype if np.dtype(kind) == np.float64 else np.dtype(kind)
            text = kind.kind in "UO"
            value = value if text or kind.kind in "ib" else value.cast(kind)
            self.nodes.append(self.helper.make_node("Identity", [value.name], [name]))
            number = self.type_of(object if text else kind)
            shape = ["n"] if width is None else ["n", int(width)]
            infos.append(self.helper.make_tensor_value_info(name, number, shape))
        graph = self.helper.make_graph(self.nodes, "mercer", self.inputs, infos, self.initializers)
        # Runtimes from 2024 on can read these versions.
        opsets = [self.helper.make_opsetid("", 18), self.helper.make_opsetid("ai.onnx.ml", 3)]
        model = self.helper.make_model(graph, opset_imports=opsets, producer_name="mercer", ir_version=10)
        need("onnx.checker").check_model(model)
        return model

    def _name(self) -> str:
        self._count += 1
        return f"value {self._count} of mercer"  # not the name of any column

    def _constant(self, array: np.ndarray | float) -> str:
        array = np.asarray(array)
        if array.dtype.kind == "f":
            array = array.astype(np.float64)
        elif array.dtype.kind in "iu":
            array = array.astype(np.int64)
        elif array.dtype.kind in "US":
            array = array.astype(object)
        key = (array.dtype.str, array.shape, array.tobytes()) if array.size <= 8 and array.dtype != object else None
        if key is None or key not in self._kept:
            name = self._name()
            self.initializers.append(self.numpy.from_array(np.ascontiguousarray(array).reshape(array.shape), name))
            if key is None:
                return name
            self._kept[key] = name
        return self._kept[key]
