"""Bytes to a Document, by media type."""
