"""Compiled inner loops of the polynomial recurrences, on panels: a few columns of all nodes, contiguous in memory.

A panel's states are carried through the whole recurrence while they sit in cache. Numba compiles on first use and keeps
the machine code on disk. Imported only by ``kernels.py``, which falls back to PyTorch where numba is missing.
"""

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

LANE_BYTES = 32
WIDE, NARROW = 64, 16  # columns that one pass over a node's edges keeps in vector registers


def _advance_chunk(columns: int) -> Any:
    """An intrinsic that computes, for one node and ``columns`` columns, ``next = factor Σ_e a_e now[c_e] - back old``.

    Written as vector instructions because the compiler's own loop keeps the running sums in memory instead of
    registers, which costs a factor of 1.5 to 4. ``next`` overwrites ``old``: a node's old state serves itself alone.
    """

    @intrinsic
    def advance(typingctx, neighbours, entries, low, high, now, old, node, column, factor, back):  # type: ignore
        signature = types.void(neighbours, entries, low, high, now, old, node, column, factor, back)

        def codegen(context, builder, signature, args):  # type: ignore
            neighbours, entries, low, high, now, old, node, column, factor, back = args
            kinds = signature.args
            neighbours, entries, now, old = (
                context.make_array(kind)(context, builder, value)
                for kind, value in zip(
                    (kinds[0], kinds[1], kinds[4], kinds[5]), (neighbours, entries, now, old), strict=True
                )
            )
            real = context.get_value_type(kinds[4].dtype)
            size = context.get_abi_sizeof(real)
            lanes = LANE_BYTES // size
            vector, word = ir.VectorType(real, lanes), ir.IntType(64)
            fast = ("fast",)

            def spread(scalar):  # type: ignore
                undefined = ir.Constant(vector, ir.Undefined)
                first = builder.insert_element(undefined, scalar, ir.Constant(ir.IntType(32), 0))
                zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
                return builder.shuffle_vector(first, undefined, zeros)

            def pointers(panel, row):  # type: ignore
                offset = builder.mul(row, builder.extract_value(panel.strides, 0))
                start = builder.add(builder.ptrtoint(panel.data, word), offset)
                start = builder.add(start, builder.mul(column, ir.Constant(word, size)))
                return [
                    builder.inttoptr(builder.add(start, ir.Constant(word, k * LANE_BYTES)), vector.as_pointer())
                    for k in range(columns // lanes)
                ]

            home = pointers(old, node)
            minus_back = spread(builder.fneg(back))
            initial = [builder.fmul(minus_back, builder.load(p, align=size), flags=fast) for p in home]
            entry = builder.block
            loop, done = builder.append_basic_block("edges"), builder.append_basic_block("done")
            builder.cbranch(builder.icmp_signed("<", low, high), loop, done)

            builder.position_at_end(loop)
            edge = builder.phi(word)
            edge.add_incoming(low, entry)
            sums = [builder.phi(vector) for _ in initial]
            neighbour = builder.sext(builder.load(builder.gep(neighbours.data, [edge])), word)
            weight = builder.fmul(factor, builder.load(builder.gep(entries.data, [edge])), flags=fast)
            weight = spread(weight)
            added = [
                builder.fadd(total, builder.fmul(weight, builder.load(p, align=size), flags=fast), flags=fast)
                for total, p in zip(sums, pointers(now, neighbour), strict=True)
            ]
            following = builder.add(edge, ir.Constant(word, 1))
            edge.add_incoming(following, loop)
            for total, start, end in zip(sums, initial, added, strict=True):
                total.add_incoming(start, entry)
                total.add_incoming(end, loop)
            builder.cbranch(builder.icmp_signed("<", following, high), loop, done)

            builder.position_at_end(done)
            results = [builder.phi(vector) for _ in initial]
            for result, start, end, p in zip(results, initial, added, home, strict=True):
                result.add_incoming(start, entry)
                result.add_incoming(end, loop)
                builder.store(result, p, align=size)
            return context.get_dummy_value()

        return signature, codegen

    return advance


_advance_wide, _advance_narrow = _advance_chunk(WIDE), _advance_chunk(NARROW)


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
