"""Writers: question and passages in, a stream of text out."""
