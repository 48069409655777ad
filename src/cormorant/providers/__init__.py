"""Search backends: a Query in, Found out."""
