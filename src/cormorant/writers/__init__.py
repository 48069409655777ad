"""Writers: question and passages in, a stream of text out."""

from __future__ import annotations


class Reflection(str):
    """A piece of a writer's thinking: kept apart from the answer."""
