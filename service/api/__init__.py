"""The HTTP edge: parses, makes one call, answers. It knows no rule of a game."""
