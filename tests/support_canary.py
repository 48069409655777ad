"""A secret that tests configure. Nothing that is written while they run may hold it: conftest looks at the end."""

CANARY = "canary-7c1f09e4b2d6"
