"""A JSON Schema as a tree of what is wanted. Pure.

Read are the words that say what a value is: type, properties, required, items, enum, const, format, the bounds, local $ref, and
a choice between one schema and null. A word that would constrain a value in a way nobody here checks is refused by its name, so
that what comes back never claims a schema it was not held against.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from cormorant.errors import InvalidArguments

Kind = Literal["object", "array", "string", "number", "integer", "boolean"]
KINDS = ("object", "array", "string", "number", "integer", "boolean")
DEPTH_MAX = 6
NODES_MAX = 200
ITEMS_MAX = 200  # of one list
NOTES = frozenset(  # words of a schema that constrain nothing
    "$schema $id $anchor $comment $defs definitions title description default examples deprecated readOnly writeOnly".split()
)
READ = frozenset(
    (
        "type properties required items enum const format additionalProperties minimum maximum exclusiveMinimum exclusiveMaximum "
        "minLength maxLength minItems maxItems anyOf oneOf $ref"
    ).split()
)
FORMATS = ("date", "date-time", "uri", "email")


@dataclass(frozen=True)
class Bounds:
    """What a value must lie within; None is no bound."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    shortest: int | None = None
    longest: int | None = None
    fewest: int | None = None
    most_items: int | None = None


@dataclass(frozen=True)
class Wanted:
    """One place of the result: what it is called, what it is, and what is below it."""

    kind: Kind
    name: str = ""
    about: str = ""  # title and description
    nullable: bool = False
    properties: tuple[Wanted, ...] = ()
    required: frozenset[str] = frozenset()
    items: Wanted | None = None
    enum: tuple[Any, ...] = ()
    format: str = ""
    bounds: Bounds = field(default_factory=Bounds)

    @property
    def is_leaf(self) -> bool:
        return self.kind not in ("object", "array")


def wanted(schema: Any) -> Wanted:
    """The tree behind a schema; its root is an object or a list of objects. Raises: InvalidArguments, naming the place."""
    made = _Reader(schema).read(schema, "", "#", 0)
    if made.kind == "object" and made.properties:
        return made
    if made.kind == "array" and made.items and made.items.kind == "object" and made.items.properties:
        return made
    raise _wrong("#", "the root has to be an object with properties, or an array of such objects")


def _wrong(where: str, why: str) -> InvalidArguments:
    return InvalidArguments(f"schema {where}: {why}", remedy='for example {"type": "object", "properties": {"price": {"type": "number"}}}')


class _Reader:
    def __init__(self, root: Any) -> None:
        self._root = root
        self._nodes = 0

    def read(self, schema: Any, name: str, where: str, depth: int) -> Wanted:
        self._nodes += 1
        if not isinstance(schema, Mapping):
            raise _wrong(where, "not an object")
        if depth > DEPTH_MAX or self._nodes > NODES_MAX:
            raise _wrong(where, f"over {DEPTH_MAX} levels or {NODES_MAX} places: ask for less at once")
        if "$ref" in schema:
            return self._referred(schema, name, where, depth)
        if unread := sorted(set(schema) - READ - NOTES):
            raise _wrong(where, f"{unread[0]!r} is not read here")
        for word in ("anyOf", "oneOf"):
            if word in schema:
                return self._choice(schema, word, name, where, depth)
        return self._made(schema, name, where, depth)

    def _referred(self, schema: Mapping[str, Any], name: str, where: str, depth: int) -> Wanted:
        reference = schema["$ref"]
        if not isinstance(reference, str) or not reference.startswith("#/"):
            raise _wrong(where, f"$ref {reference!r} is not a place in the same schema")
        target = self._root
        for step in reference[2:].split("/"):
            step = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(target, Mapping) or step not in target:
                raise _wrong(where, f"$ref {reference!r} leads nowhere")
            target = target[step]
        return self.read(target, name, where, depth + 1)

    def _choice(self, schema: Mapping[str, Any], word: str, name: str, where: str, depth: int) -> Wanted:
        options = schema[word]
        if not isinstance(options, list):
            raise _wrong(where, f"{word} is not a list")
        real = [option for option in options if option != {"type": "null"}]
        if len(real) != 1:
            raise _wrong(where, f"{word} is read as one schema or null, not as a choice between {len(real)}")
        made = self.read(real[0], name, f"{where}/{word}", depth + 1)
        return replace(made, nullable=made.nullable or len(real) < len(options), about=_about(schema) or made.about)

    def _made(self, schema: Mapping[str, Any], name: str, where: str, depth: int) -> Wanted:
        kinds, nullable = self._kinds(schema, where)
        kind = kinds[0]
        made = Wanted(kind, name, _about(schema), nullable, format=str(schema.get("format", "")), bounds=self._bounds(schema, where))
        if kind == "object":
            properties = schema.get("properties", {})
            if not isinstance(properties, Mapping):
                raise _wrong(where, "properties is not an object")
            below = tuple(self.read(one, str(key), f"{where}/properties/{key}", depth + 1) for key, one in properties.items())
            required = schema.get("required", [])
            if not isinstance(required, list) or not all(isinstance(key, str) for key in required):
                raise _wrong(where, "required is not a list of names")
            return replace(made, properties=below, required=frozenset(required))
        if kind == "array":
            if "items" not in schema:
                raise _wrong(where, "a list has to say what its items are")
            return replace(made, items=self.read(schema["items"], name, f"{where}/items", depth + 1))
        return replace(made, enum=self._enum(schema, where))

    def _kinds(self, schema: Mapping[str, Any], where: str) -> tuple[list[Kind], bool]:
        given = schema.get("type")
        if given is None:
            given = (
                "object" if "properties" in schema else "array" if "items" in schema else _kind_of(schema.get("enum", schema.get("const")))
            )
        names = given if isinstance(given, list) else [given]
        if not names or any(name not in (*KINDS, "null") for name in names):
            raise _wrong(where, f"type {given!r} is none of {', '.join(KINDS)}")
        kinds: list[Any] = [name for name in names if name != "null"]
        if set(kinds) == {"integer", "number"}:
            kinds = ["number"]
        if len(kinds) != 1:
            raise _wrong(where, f"type {given!r}: one type, or one and null")
        return kinds, len(names) > len(kinds) and "null" in names

    def _enum(self, schema: Mapping[str, Any], where: str) -> tuple[Any, ...]:
        given = [schema["const"]] if "const" in schema else schema.get("enum", [])
        if not isinstance(given, list):
            raise _wrong(where, "enum is not a list")
        return tuple(value for value in given if value is not None)

    def _bounds(self, schema: Mapping[str, Any], where: str) -> Bounds:
        words = {
            "least": "minimum",
            "most": "maximum",
            "above": "exclusiveMinimum",
            "below": "exclusiveMaximum",
            "shortest": "minLength",
            "longest": "maxLength",
            "fewest": "minItems",
            "most_items": "maxItems",
        }
        found = {ours: schema[word] for ours, word in words.items() if word in schema}
        for ours, value in found.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise _wrong(where, f"{words[ours]} is not a number")
        return Bounds(**found)


def _about(schema: Mapping[str, Any]) -> str:
    return ". ".join(str(schema[word]) for word in ("title", "description") if schema.get(word))


def _kind_of(value: Any) -> str | None:
    """The type that an enum's values or a const have, where the schema names none."""
    sample = value[0] if isinstance(value, list) and value else value
    named = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return named.get(type(sample))
