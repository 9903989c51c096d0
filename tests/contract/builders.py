"""Real messages made wrong: bits flipped, cut short, glued together, fields with values at the ends of their types."""

from collections.abc import Sequence
from math import inf, nan
from random import Random
from typing import TYPE_CHECKING, Any

from google.protobuf.descriptor import FieldDescriptor as Field
from google.protobuf.message import Message

if TYPE_CHECKING:
    from google._upb._message import FieldDescriptor as FastField

    AnyField = Field | FastField

WHOLE = (0, 1, 2, 7, 2**31, 2**32 - 1)
LONG = (0, 1, 2**31, 2**32, 2**48, 2**48 + 1, 2**63 - 1, 2**63, 2**64 - 1)
SIGNED = (0, -1, 2**61 + 1, 2**63 - 1, -(2**63))
REAL = (nan, inf, -inf, -1.0, -0.0, 0.0, 5e-324, 1e-9, 0.5, 1.5, 1e9, 1.1e9, 1e15, 1e18, 1e300, 1.7976931348623157e308)
TEXT = ("", "\0", "a\nb", "\u202e", "x" * 5000, "\U0010ffff", "127.0.0.1:99999", "[" * 3000, "{}", "null", "1e999")
VALUES: dict[int, Sequence[Any]] = {
    Field.TYPE_UINT32: WHOLE,
    Field.TYPE_UINT64: LONG,
    Field.TYPE_FIXED64: LONG,
    Field.TYPE_INT64: SIGNED,
    Field.TYPE_SINT64: SIGNED,
    Field.TYPE_DOUBLE: REAL,
    Field.TYPE_STRING: TEXT,
    Field.TYPE_BYTES: (b"", b"1234567", b"\xff" * 8, bytes(16), b"\x7f" * 4096),
    Field.TYPE_BOOL: (True, False),
    Field.TYPE_ENUM: (0, 1, 99),
}
REPEATS = (1, 2, 3, 300)


def mutated(random: Random, corpus: Sequence[Message]) -> bytes:
    """One of them, made wrong in one or more ways; now and then it stays right."""
    found = random.choice(corpus)
    if random.random() < 0.5:
        changed = type(found)()
        changed.CopyFrom(found)
        for _ in range(random.choice((1, 1, 2, 5))):
            extreme(random, changed)
        return changed.SerializeToString()
    data = bytearray(found.SerializeToString())
    match random.randrange(4):
        case 0:
            for _ in range(random.choice((1, 1, 2, 8))):
                data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        case 1:
            del data[random.randrange(len(data)) :]
        case 2:
            other = random.choice(corpus).SerializeToString()
            data[random.randrange(len(data)) :] = other[random.randrange(len(other)) :]
        case 3:
            at = random.randrange(len(data))
            data[at : at + random.randrange(4)] = random.randbytes(random.randrange(6))
    return bytes(data)


def extreme(random: Random, message: Message) -> None:
    """Some field of it, or of a message in it, at an end of its range; or too many of it."""
    present: list[AnyField] = [field for field, _ in message.ListFields()]
    fields: list[AnyField] = [*message.DESCRIPTOR.fields]
    field = random.choice(present if present and random.random() < 0.8 else fields)
    value = getattr(message, field.name)
    if isinstance(field.default_value, list):
        _repeated(random, field, value)
    elif field.type == Field.TYPE_MESSAGE:
        value.SetInParent()
        extreme(random, value)
    else:
        setattr(message, field.name, random.choice(VALUES[field.type]))


def _repeated(random: Random, field: "AnyField", values: Any) -> None:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        values[random.choice(TEXT[:3])] = "x"
        return
    is_message = field.type == Field.TYPE_MESSAGE
    if not values:
        values.add() if is_message else values.append(VALUES[field.type][1])
    which = random.randrange(len(values))
    match random.randrange(4):
        case 0:
            del values[which]
        case 1:
            values.extend([values[which]] * random.choice(REPEATS))
        case _ if is_message:
            extreme(random, values[which])
        case _:
            values[which] = random.choice(VALUES[field.type])
