"""The yardstick: a bare Flask route that runs the very append of the service with raw psycopg."""

import os
from threading import local

import psycopg
from flask import Flask, Response, request

from service.store.appends import append_statement

LINE = (
    '{"actor":{"id":"01j00000000000000000000001","kind":"player"},"at":"2026-12-01T10:15:31.000Z",'
    * 5
)


def create_app() -> Flask:
    app = Flask("bare")
    mine = local()

    def connection() -> psycopg.Connection:
        if not hasattr(mine, "connection"):
            mine.connection = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)
        return mine.connection

    @app.post("/games/<game>/moves")
    def move(game: str) -> Response:
        body = request.get_json()
        version = body["expected_version"] + 1
        parameters = {
            "game": game,
            "version": version,
            "head": f"{version:064x}",
            "expected": version - 1,
            "prev": f"{version - 1:064x}",
            "status": "active",
            "players": None,
            "to_act": "a" * 26,
            "bot_to_act": False,
            "moved_at": "2026-12-01T10:15:31.000Z",
            "deadline_at": None,
            "signed_with": "k" * 16,
            "signature": "s" * 86,
            "seq0": version,
            "type0": "move",
            "body0": LINE,
            "player": "a" * 26,
            "route": "makeMoves",
            "key": request.headers["Idempotency-Key"],
            "fingerprint": b"0" * 32,
        }
        moved = connection().execute(append_statement(1), parameters).fetchone()
        return Response(f'{{"moved":{moved[0]}}}', 201, content_type="application/json")

    return app
