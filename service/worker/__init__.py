"""The worker: what goes on in a game when nobody is asking."""
