"""Compiled inner loops of the polynomial recurrences, on panels: a few columns of all nodes, contiguous in memory.

A panel's states are carried through the whole recurrence while they sit in cache. Numba compiles on first use and keeps
the machine code on disk. Imported only by ``kernels.py``, which falls back to PyTorch where numba is missing.
"""

from typing import Any

from llvmlite import binding, ir
from numba import njit, types
from numba.extending import intrinsic

LANE_BYTES = 64 if binding.get_host_cpu_features().get("avx512f") else 32
LINE_BYTES = 64  # of a cache
AHEAD = 16  # entries from the one whose row is added to the one whose row is called into the cache
WIDE, NARROW = 64, 16  # columns that one pass over a node's edges keeps in vector registers
NARROW_LANE_BYTES = 32  # a narrow row is a line or two, which two short lanes read at least as fast as they are called

_WORD, _NUMBER, _BYTES = ir.IntType(64), ir.IntType(32), ir.IntType(8).as_pointer()
_FAST = ("fast",)
_TO_READ, _KEEP, _DATA = (ir.Constant(_NUMBER, value) for value in (0, 3, 1))  # how llvm.prefetch is told


def _word(value: int) -> Any:
    return ir.Constant(_WORD, value)


class _Chunk:
    """Instructions that update one node's ``columns`` columns, the running sums in vector registers.

    Written out because the compiler's own loop keeps the sums in memory, which costs a factor of 1.5 to 4.
    """

    def __init__(self, context: Any, builder: Any, kinds: Any, arguments: Any, columns: int) -> None:
        arrays = (0, 1, 4, 5)
        views = (context.make_array(kinds[k])(context, builder, arguments[k]) for k in arrays)
        self.neighbours, self.entries, self.now, self.old = views
        self.low, self.high, self.node, self.column, self.factor, self.back = (
            arguments[k] for k in range(len(arguments)) if k not in arrays
        )
        self.builder, self.real = builder, context.get_value_type(kinds[4].dtype)
        self.size = context.get_abi_sizeof(self.real)
        self.wide = columns > NARROW
        self.lane_bytes = LANE_BYTES if self.wide else NARROW_LANE_BYTES
        self.bytes, self.lanes = columns * self.size, self.lane_bytes // self.size
        self.vector = ir.VectorType(self.real, self.lanes)
        self.prefetch = builder.module.declare_intrinsic(
            "llvm.prefetch", [_BYTES], ir.FunctionType(ir.VoidType(), [_BYTES, _NUMBER, _NUMBER, _NUMBER])
        )

    def spread(self, scalar: Any) -> Any:
        """A number in every lane."""
        undefined = ir.Constant(self.vector, ir.Undefined)
        first = self.builder.insert_element(undefined, scalar, ir.Constant(_NUMBER, 0))
        zeros = ir.Constant(ir.VectorType(_NUMBER, self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(first, undefined, zeros)

    def addresses(self, panel: Any, row: Any, stride: int, kind: Any) -> list[Any]:
        """Of every ``stride`` bytes of the columns in a row."""
        build = self.builder
        start = build.add(build.ptrtoint(panel.data, _WORD), build.mul(row, build.extract_value(panel.strides, 0)))
        start = build.add(start, build.mul(self.column, _word(self.size)))
        return [build.inttoptr(build.add(start, _word(at)), kind) for at in range(0, self.bytes, stride)]

    def vectors(self, panel: Any, row: Any) -> list[Any]:
        return self.addresses(panel, row, self.lane_bytes, self.vector.as_pointer())

    def neighbour(self, edge: Any) -> Any:
        build = self.builder
        return build.sext(build.load(build.gep(self.neighbours.data, [edge])), _WORD)

    def start(self, homes: list[Any], afresh: bool) -> list[Any]:
        """The sums before the first edge: ``-back old``, or zero."""
        build = self.builder
        if afresh:
            nothing = ir.Constant(self.real, -0.0)  # adding it changes no number, not even -0
            return [self.spread(nothing)] * len(homes)
        back = self.spread(build.fneg(self.back))
        return [build.fmul(back, build.load(home, align=self.size), flags=_FAST) for home in homes]

    def call(self, edge: Any, last: Any) -> None:
        """Have the cache fetch the row that an edge a little further on needs, be it the next node's."""
        build = self.builder
        ahead = build.add(edge, _word(AHEAD))
        ahead = build.select(build.icmp_signed("<", ahead, last), ahead, last)
        for line in self.addresses(self.now, self.neighbour(ahead), LINE_BYTES, _BYTES):
            build.call(self.prefetch, [line, _TO_READ, _KEEP, _DATA])

    def add(self, sums: list[Any], edge: Any) -> list[Any]:
        """The sums with one more edge."""
        build = self.builder
        entry = build.load(build.gep(self.entries.data, [edge]))
        weight = self.spread(build.fmul(self.factor, entry, flags=_FAST))
        rows = self.vectors(self.now, self.neighbour(edge))
        return [
            build.fadd(total, build.fmul(weight, build.load(row, align=self.size), flags=_FAST), flags=_FAST)
            for total, row in zip(sums, rows, strict=True)
        ]

    def emit(self, afresh: bool) -> None:
        """The loop over the node's edges."""
        build = self.builder
        homes = self.vectors(self.old, self.node)
        initial = self.start(homes, afresh)
        last = build.sub(build.extract_value(self.neighbours.shape, 0), _word(1))
        entry, loop, done = build.block, build.append_basic_block("edges"), build.append_basic_block("done")
        build.cbranch(build.icmp_signed("<", self.low, self.high), loop, done)

        build.position_at_end(loop)
        edge, sums = build.phi(_WORD), [build.phi(self.vector) for _ in initial]
        if self.wide:
            self.call(edge, last)
        added = self.add(sums, edge)
        following = build.add(edge, _word(1))
        for value, before, after in zip([edge, *sums], [self.low, *initial], [following, *added], strict=True):
            value.add_incoming(before, entry)
            value.add_incoming(after, loop)
        build.cbranch(build.icmp_signed("<", following, self.high), loop, done)

        build.position_at_end(done)
        results = [build.phi(self.vector) for _ in initial]  # before anything else in their block
        for result, before, after in zip(results, initial, added, strict=True):
            result.add_incoming(before, entry)
            result.add_incoming(after, loop)
        for result, home in zip(results, homes, strict=True):
            build.store(result, home, align=self.size)


def _advance_chunk(columns: int, *, afresh: bool) -> Any:
    """An intrinsic that computes, for one node and ``columns`` columns, ``old ← factor Σ_e a_e now[c_e] - back old``.

    A node's old state serves itself alone, so that it may be overwritten. With ``afresh`` it is not read, as if
    ``back`` were 0.
    """

    @intrinsic
    def advance(typingctx, neighbours, entries, low, high, now, old, node, column, factor, back):  # type: ignore
        signature = types.void(neighbours, entries, low, high, now, old, node, column, factor, back)

        def codegen(context, builder, signature, arguments):  # type: ignore
            _Chunk(context, builder, signature.args, arguments, columns).emit(afresh)
            return context.get_dummy_value()

        return signature, codegen

    return advance


_advance_wide, _advance_narrow = (_advance_chunk(columns, afresh=False) for columns in (WIDE, NARROW))
_product_wide, _product_narrow = (_advance_chunk(columns, afresh=True) for columns in (WIDE, NARROW))


@njit(nogil=True, fastmath=True, cache=True)
def sweep(rows, neighbours, entries, low, high, now, old, factor, back, weights, totals, probes, dots):  # type: ignore
    """One degree on the nodes low … high - 1 of a panel.

    ``old ← factor Ā now - back old``, then ``totals[r] += weights[r] old`` and ``dots[r] += ⟨old, probes[r]⟩``.
    Panels have shape (N, B), ``totals`` (R, N, B), ``probes`` (P, N, B), with B a multiple of NARROW.
    """
    width = now.shape[1]
    for node in range(low, high):
        column = 0
        while column + WIDE <= width:
            _advance_wide(neighbours, entries, rows[node], rows[node + 1], now, old, node, column, factor, back)
            column += WIDE
        while column < width:
            _advance_narrow(neighbours, entries, rows[node], rows[node + 1], now, old, node, column, factor, back)
            column += NARROW
        for r in range(totals.shape[0]):
            weight = weights[r]
            for b in range(width):
                totals[r, node, b] += weight * old[node, b]
        for r in range(probes.shape[0]):
            inner = now.dtype.type(0)
            for b in range(width):
                inner += old[node, b] * probes[r, node, b]
            dots[r] += inner


@njit(nogil=True, fastmath=True, cache=True)
def run_panel(rows, neighbours, entries, now, old, steps, coefficients, totals, probes, dots):  # type: ignore
    """All degrees from 1 on, on one panel; ``steps`` holds each degree's (factor, back), ``dots`` has shape (J, P)."""
    for j in range(1, len(steps) + 1):
        factor, back = steps[j - 1]
        weights = coefficients[:, j]
        sweep(rows, neighbours, entries, 0, now.shape[0], now, old, factor, back, weights, totals, probes, dots[j])
        now, old = old, now


@njit(nogil=True, fastmath=True, cache=True)
def product(rows, neighbours, entries, low, high, now, out):  # type: ignore
    """``out = Ā now`` on the rows low … high - 1; the width is a multiple of NARROW."""
    one, width = now.dtype.type(1), now.shape[1]
    for node in range(low, high):
        column = 0
        while column + WIDE <= width:
            _product_wide(neighbours, entries, rows[node], rows[node + 1], now, out, node, column, one, one)
            column += WIDE
        while column < width:
            _product_narrow(neighbours, entries, rows[node], rows[node + 1], now, out, node, column, one, one)
            column += NARROW


@njit(nogil=True, fastmath=True, cache=True)
def term(rows, neighbours, entries, low, high, now, old, out, factor, back):  # type: ignore
    """``out = factor Ā now - back old`` on the rows low … high - 1, each combined while it is in cache."""
    for node in range(low, high):
        product(rows, neighbours, entries, node, node + 1, now, out)
        for b in range(now.shape[1]):
            out[node, b] = factor * out[node, b] - back * old[node, b]
