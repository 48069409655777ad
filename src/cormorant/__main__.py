"""`python -m cormorant` is the command line."""

from cormorant.surfaces.cli import main

main()
