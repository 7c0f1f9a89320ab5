"""Vectors of a fixed number of floats for functions compiled by numba.

Numba relies on the compiler to find loops that fit vector registers, but the compiler unrolls short
loops into single numbers instead. A value of type `Lanes(n)` is n float32 numbers that stay
together: they are added, multiplied and stored as one, on any processor.
"""

from __future__ import annotations

import operator
from typing import Any, no_type_check

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_model

FLAGS = ("contract", "nsz")  # a * b + c in one instruction; NaN stays NaN
EXP2 = (1.0, 0.693147180, 0.240226507, 0.0555041087, 0.00961812911, 0.00133335581, 0.000154035304)
"""Taylor series of 2^x; on [-1/2, 1/2] correct to three units of float32's last digit."""
LOG2_E = 1.4426950408889634
ROUNDING = 1.5 * 2.0**23  # a float32 this large has no digits after the point
LOWEST = -127.0  # this power of two has the bits of zero


class Lanes(types.Type):
    """A fixed number of float32 numbers in vector registers."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(name=f"Lanes({count})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes: Lanes) -> None:
        super().__init__(manager, lanes, ir.VectorType(ir.FloatType(), lanes.count))


@no_type_check
def _address(context, builder, array_type, array, offset):
    """Pointer to the number at `offset` in an array."""
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [offset])


@no_type_check
def _place(context, builder, array_type, array, offset, count):
    """Pointer to `count` numbers of an array, starting at `offset`."""
    vector = ir.VectorType(ir.FloatType(), count)
    address = _address(context, builder, array_type, array, offset)
    return builder.bitcast(address, vector.as_pointer())


@intrinsic(prefer_literal=True)
@no_type_check
def load(typing_context, array, offset, count):
    """Read `count` adjacent numbers of a float32 array, starting at `offset`."""

    def generate(context, builder, signature, values):
        place = _place(context, builder, array, values[0], values[1], count.literal_value)
        return builder.load(place, align=4)

    return Lanes(count.literal_value)(array, types.int64, count), generate


@intrinsic
@no_type_check
def store(typing_context, array, offset, lanes):
    """Write the numbers to a float32 array, starting at `offset`."""

    def generate(context, builder, signature, values):
        place = _place(context, builder, array, values[0], values[1], lanes.count)
        builder.store(values[2], place, align=4)
        return context.get_dummy_value()

    return types.void(array, types.int64, lanes), generate


@intrinsic
@no_type_check
def scatter(typing_context, array, offset, step, lanes):
    """Write the numbers to a float32 array, starting at `offset`, `step` apart."""

    def generate(context, builder, signature, values):
        place = values[1]
        for lane in range(lanes.count):
            number = builder.extract_element(values[3], ir.IntType(32)(lane))
            builder.store(number, _address(context, builder, array, values[0], place))
            place = builder.add(place, values[2])
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64, lanes), generate


@no_type_check
def _spread(builder, value, count):
    """The same number in every lane."""
    vector = ir.VectorType(value.type, count)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.IntType(32)(0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), count), [0] * count)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), mask)


@intrinsic(prefer_literal=True)
@no_type_check
def fill(typing_context, value, count):
    """The same number `count` times."""

    def generate(context, builder, signature, values):
        return _spread(builder, values[0], count.literal_value)

    return Lanes(count.literal_value)(types.float32, count), generate


@intrinsic(prefer_literal=True)
@no_type_check
def repeat(typing_context, array, offset, count):
    """The number at `offset` in a float32 array, `count` times."""

    def generate(context, builder, signature, values):
        number = builder.load(_address(context, builder, array, *values[:2]))
        return _spread(builder, number, count.literal_value)

    return Lanes(count.literal_value)(array, types.int64, count), generate


@no_type_check
def _elementwise(name):
    """Binary operation on two vectors of equal length."""

    @intrinsic
    def operation(typing_context, left, right):
        def generate(context, builder, signature, values):
            return getattr(builder, name)(*values, flags=FLAGS)

        return left(left, right), generate

    return operation


@no_type_check
def _offer(symbol, operation):
    """Make a Python operator work on vectors of equal length."""

    @overload(symbol)
    def choose(left, right):
        if isinstance(left, Lanes) and left == right:
            return lambda left, right: operation(left, right)
        return None


_offer(operator.add, _elementwise("fadd"))
_offer(operator.sub, _elementwise("fsub"))
_offer(operator.mul, _elementwise("fmul"))
_offer(operator.truediv, _elementwise("fdiv"))


@no_type_check
def _larger(builder, left, right):
    """Larger number of each lane; the right one if either is NaN."""
    return builder.select(builder.fcmp_ordered(">", left, right), left, right)


@intrinsic
@no_type_check
def larger(typing_context, left, right):
    """Larger of two vectors, lane by lane."""

    def generate(context, builder, signature, values):
        return _larger(builder, *values)

    return left(left, right), generate


@intrinsic
@no_type_check
def exp(typing_context, lanes):
    """exp(x) of every lane, for x <= 0."""

    def generate(context, builder, signature, values):
        count, vector = lanes.count, values[0].type

        def constant(number):
            return ir.Constant(vector, [number] * count)

        power = builder.fmul(values[0], constant(LOG2_E), flags=FLAGS)
        power = _larger(builder, constant(LOWEST), power)  # keeps NaN
        rounded = builder.fadd(power, constant(ROUNDING))  # its last bits hold the integer
        whole = builder.fsub(rounded, constant(ROUNDING))
        part = builder.fsub(power, whole, flags=FLAGS)
        series = constant(EXP2[-1])
        for coefficient in EXP2[-2::-1]:
            series = builder.fmul(series, part, flags=FLAGS)
            series = builder.fadd(series, constant(coefficient), flags=FLAGS)
        integers = ir.VectorType(ir.IntType(32), count)
        bits = builder.shl(builder.bitcast(rounded, integers), ir.Constant(integers, [23] * count))
        exponent = builder.add(bits, ir.Constant(integers, [127 << 23] * count))
        return builder.fmul(series, builder.bitcast(exponent, vector), flags=FLAGS)

    return lanes(lanes), generate
