"""The store: the only SQL there is, and the server that it runs on."""
