"""The `io.prometheus.client.MetricFamily` of Prometheus' metrics.proto, decoded by Google's library."""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_Field = descriptor_pb2.FieldDescriptorProto
_STRING, _DOUBLE, _INT64 = _Field.TYPE_STRING, _Field.TYPE_DOUBLE, _Field.TYPE_INT64

TYPES = ["COUNTER", "GAUGE", "SUMMARY", "UNTYPED", "HISTOGRAM", "GAUGE_HISTOGRAM"]

# Message → fields: name, number, type (a message's name, or one of the above), and whether it repeats.
_MESSAGES = {
    "LabelPair": [("name", 1, _STRING, False), ("value", 2, _STRING, False)],
    "Gauge": [("value", 1, _DOUBLE, False)],
    "Counter": [("value", 1, _DOUBLE, False)],
    "Metric": [
        ("label", 1, "LabelPair", True),
        ("gauge", 2, "Gauge", False),
        ("counter", 3, "Counter", False),
        ("timestamp_ms", 6, _INT64, False),
    ],
    "MetricFamily": [
        ("name", 1, _STRING, False),
        ("help", 2, _STRING, False),
        ("type", 3, "MetricType", False),
        ("metric", 4, "Metric", True),
        ("unit", 5, _STRING, False),
    ],
}


def _family_class():
    package = "io.prometheus.client"
    file = descriptor_pb2.FileDescriptorProto(name="metrics.proto", package=package, syntax="proto2")
    types = file.enum_type.add(name="MetricType")
    for number, name in enumerate(TYPES):
        types.value.add(name=name, number=number)
    for message_name, fields in _MESSAGES.items():
        message = file.message_type.add(name=message_name)
        for name, number, kind, repeats in fields:
            field = message.field.add(name=name, number=number)
            field.label = _Field.LABEL_REPEATED if repeats else _Field.LABEL_OPTIONAL
            if isinstance(kind, str):
                field.type = _Field.TYPE_ENUM if kind == "MetricType" else _Field.TYPE_MESSAGE
                field.type_name = f".{package}.{kind}"
            else:
                field.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.MetricFamily"))


_MetricFamily = _family_class()


def decode(page: bytes) -> list:
    """The families of a delimited page; an error for one byte too many or too few, and for fields that are not known."""
    families = []
    position = 0
    while position < len(page):
        length, position = _varint(page, position)
        assert position + length <= len(page), "the last family is cut off"
        family = _MetricFamily()
        family.ParseFromString(page[position : position + length])
        again = family.SerializeToString(deterministic=True)
        assert len(again) == length, f"{family.name} has fields that metrics.proto does not know, or a field twice"
        families.append(family)
        position += length
    return families


def _varint(page: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = page[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position
