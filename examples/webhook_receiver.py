"""A receiver of webhooks in plain Python: it checks who sent it, and takes each delivery once.

    FAIRDEAL_WEBHOOK_SECRET=whsec_… python examples/webhook_receiver.py --port 8080

It listens to this machine alone: put your own TLS proxy before it, and give
the proxy's address to `POST /webhooks`. To try it against a service of your own
machine, start that with FAIRDEAL_WEBHOOK_ADDRESSES=any.
"""

import argparse
import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE = 300
"""Seconds by which a delivery's time may differ from ours: what is older may be a replay."""

BODY_BYTES_AT_MOST = 65_536


def is_authentic(secret: str, headers: dict[str, str], body: bytes) -> bool:
    """Whether whoever knows the secret sent this, a moment ago (Standard Webhooks)."""
    sent_at = headers.get("webhook-timestamp", "")
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > TOLERANCE:
        return False
    signed = f"{headers.get('webhook-id')}.{sent_at}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = base64.b64encode(hmac.digest(key, signed, hashlib.sha256))
    given = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(b"v1," + expected, one.encode()) for one in given)


class Receiver(BaseHTTPRequestHandler):
    """Answers 204 to what it took, now or before, and 401 to what it can't believe."""

    secret = ""
    taken: set[str] = set()  # noqa: RUF012  a database, in a receiver that must not forget

    def do_POST(self) -> None:
        """Take a delivery: at most once, though it may come twice."""
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(min(length, BODY_BYTES_AT_MOST))
        headers = {name.lower(): value for name, value in self.headers.items()}
        if not is_authentic(self.secret, headers, body):
            self.send_response(401)
            self.end_headers()
            return
        if headers["webhook-id"] not in self.taken:
            self.taken.add(headers["webhook-id"])
            print(json.dumps(json.loads(body)), flush=True)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say only what was delivered."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8080)
    asked = parser.parse_args()
    Receiver.secret = os.environ["FAIRDEAL_WEBHOOK_SECRET"]
    ThreadingHTTPServer(("127.0.0.1", asked.port), Receiver).serve_forever()


if __name__ == "__main__":
    main()
