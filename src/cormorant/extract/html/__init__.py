"""HTML to a Document: parse, clean, select, render, and say whether it is content at all."""
