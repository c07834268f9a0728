"""The use cases: open a game, take a seat, make moves, look on."""
