"""The rules of the games: what a ruleset is, and a folder for each."""
