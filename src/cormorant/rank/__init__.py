"""Rerankers: question and passages in, scores out."""
