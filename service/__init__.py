"""Fairdeal: card games over HTTP, with a log that nobody can quietly rewrite."""
