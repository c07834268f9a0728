"""The log: what happened at a table, in an order and in bytes that nobody can quietly change."""
