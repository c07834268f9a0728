"""Texts of strangers, made fit for a terminal."""


def plain(text: str) -> str:
    """The text with whatever a terminal might obey written out."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def counted(count: int, noun: str) -> str:
    """A number of things: 1 game, 2 games."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
