"""One client for all the tests of faults: each request over a connection of its own."""

import httpx

HTTP = httpx.Client(
    verify=False,  # nothing is encrypted here
    limits=httpx.Limits(max_keepalive_connections=0),
    timeout=20,
)
