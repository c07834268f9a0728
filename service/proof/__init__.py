"""The proof: what binds the service to a log, and the verifier that trusts nobody."""
