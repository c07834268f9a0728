"""The problems' pages: what each means, why it comes about, and what to do."""

from dataclasses import dataclass, field

from service.canonical import JsonMap


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemPage:
    """A kind of problem; `example` holds the members that it has beside the common ones."""

    slug: str
    status: int
    title: str
    meaning: str
    cause: str
    fix: str
    example: JsonMap = field(default_factory=dict)

    @property
    def code(self) -> str:
        """The slug as programs compare it."""
        return self.slug.replace("-", "_")


PAGES = (
    ProblemPage(
        slug="bad-request",
        status=400,
        title="Bad request",
        meaning="The request could not be understood.",
        cause="The request line, a header or the transfer of the body is malformed.",
        fix="Compare the request with the examples in /docs.",
    ),
    ProblemPage(
        slug="malformed-json",
        status=400,
        title="Malformed JSON",
        meaning="The body is not JSON of one clear meaning.",
        cause="A syntax error, text that is not UTF-8, the same key twice in an object, NaN or "
        "Infinity, or nesting without end.",
        fix="Send what a JSON library writes. `detail` says where the reader stopped.",
    ),
    ProblemPage(
        slug="invalid-query",
        status=400,
        title="Invalid query parameter",
        meaning="A query parameter is unknown here, or has a value that can't be read.",
        cause="A misspelt parameter, a number out of range, a cursor that no list has given.",
        fix="`parameter` names it. Take cursors from `next_cursor` as they are.",
        example={"parameter": "limit"},
    ),
    ProblemPage(
        slug="invalid-idempotency-key",
        status=400,
        title="Invalid Idempotency-Key",
        meaning="The Idempotency-Key header holds no key.",
        cause="It is empty, longer than 255 characters, or has spaces or characters beyond ASCII.",
        fix="Send a random UUID, a new one for each thing that you want done.",
    ),
    ProblemPage(
        slug="idempotency-not-supported",
        status=400,
        title="Idempotency-Key not supported",
        meaning="This operation can't be replayed by key.",
        cause="Anybody may call it, so a key would be shared by all the world, and its answer "
        "holds a token that is shown once.",
        fix="Leave the header out. If an answer was lost, register again: it costs nothing.",
    ),
    ProblemPage(
        slug="unauthenticated",
        status=401,
        title="Not authenticated",
        meaning="The request has no key, or none that is live.",
        cause="The Authorization header is missing or mistyped, or the key expired or was revoked.",
        fix="Send `Authorization: Bearer fd_pk_…`. `POST /players` gives a key.",
    ),
    ProblemPage(
        slug="insufficient-scope",
        status=403,
        title="Insufficient scope",
        meaning="The key is live, but may not do this.",
        cause="It was made with fewer scopes.",
        fix="Use a key that has the scope named in `scope`, or make one.",
        example={"scope": "play"},
    ),
    ProblemPage(
        slug="not-seated",
        status=403,
        title="Not your seat",
        meaning="You don't hold the seat that this needs.",
        cause="You are not in this game, or the seat is somebody else's.",
        fix="Take a seat while the game is open: `POST /games/{id}/seats`.",
    ),
    ProblemPage(
        slug="hidden-information",
        status=403,
        title="Hidden information",
        meaning="What you ask for shows cards that are hidden from you.",
        cause="While a game runs, each player sees only their own hand.",
        fix="Ask again once the game has ended: then every hand can be seen.",
    ),
    ProblemPage(
        slug="not-found",
        status=404,
        title="Not found",
        meaning="There is nothing at this address.",
        cause="The path is misspelt, or of another release.",
        fix="`GET /` and /docs list what there is.",
    ),
    ProblemPage(
        slug="game-not-found",
        status=404,
        title="Game not found",
        meaning="There is no game with this id that you may see.",
        cause="The id is mistyped, or the game is private and you are not in it.",
        fix="Take the id from the answer of `POST /games` or from `GET /games`.",
    ),
    ProblemPage(
        slug="key-not-found",
        status=404,
        title="Key not found",
        meaning="You have no key with this id.",
        cause="The id is mistyped, or the key is another player's.",
        fix="`GET /players/me/keys` lists your keys.",
    ),
    ProblemPage(
        slug="ruleset-not-found",
        status=404,
        title="Ruleset not found",
        meaning="There is no ruleset of this name and version.",
        cause="The name is misspelt.",
        fix="`GET /rulesets` lists them.",
    ),
    ProblemPage(
        slug="version-not-found",
        status=404,
        title="Version not found",
        meaning="The game has no such version yet.",
        cause="Versions are the seqs of its events, from 1 to the newest.",
        fix="Ask for one from 1 to the `version` given here.",
        example={"version": 42},
    ),
    ProblemPage(
        slug="method-not-allowed",
        status=405,
        title="Method not allowed",
        meaning="The address exists, but not with this method.",
        cause="A GET was sent where a POST belongs, or the other way round.",
        fix="The `Allow` header lists the methods.",
    ),
    ProblemPage(
        slug="game-not-active",
        status=409,
        title="Game not active",
        meaning="No move can be made in this game now.",
        cause="It has not started, or it has ended.",
        fix="`game_status` says which. An open game starts when its last seat is taken; where bots "
        "sit in all the others, when its creator gives a contribution.",
        example={"game_status": "finished"},
    ),
    ProblemPage(
        slug="game-not-open",
        status=409,
        title="Game not open",
        meaning="The seats of this game are fixed.",
        cause="It has started, or it has ended.",
        fix="Take a seat in an open game: `GET /games?status=open`.",
        example={"game_status": "active"},
    ),
    ProblemPage(
        slug="seat-taken",
        status=409,
        title="Seat taken",
        meaning="Somebody sits there already.",
        cause="Another player was faster.",
        fix="Leave `seat` out to get the first one that is free.",
        example={"seat": 2},
    ),
    ProblemPage(
        slug="no-free-seat",
        status=409,
        title="No free seat",
        meaning="Every seat of this game is taken.",
        cause="Other players were faster.",
        fix="Find another: `GET /games?status=open`.",
    ),
    ProblemPage(
        slug="already-seated",
        status=409,
        title="Already seated",
        meaning="You hold a seat of this game already.",
        cause="A player holds one seat, or they would see two hands. Sandbox games are exempt.",
        fix="Play on from the seat that you have.",
        example={"seat": 1},
    ),
    ProblemPage(
        slug="version-conflict",
        status=409,
        title="Version conflict",
        meaning="The game has moved on from the version that you expected. Nothing was changed.",
        cause="Somebody moved, or a move of yours was made whose answer you did not get.",
        fix="Look at `missed_events`, then decide again at `current_version`.",
        example={"current_version": 45, "to_act": 2, "missed_events": []},
    ),
    ProblemPage(
        slug="not-your-turn",
        status=409,
        title="Not your turn",
        meaning="Another seat is to act. Nothing was changed.",
        cause="You have moved already, or others are still to move.",
        fix="Wait until `to_act` is your seat.",
        example={"current_version": 45, "to_act": 3},
    ),
    ProblemPage(
        slug="game-busy",
        status=503,
        title="Game busy",
        meaning="Others kept changing the game. Nothing was changed by you.",
        cause="Many requests for one game at the same moment.",
        fix="Try again after a moment, with the same Idempotency-Key.",
    ),
    ProblemPage(
        slug="secret-already-shown",
        status=409,
        title="Secret already shown",
        meaning="This request was answered before, and its token can't be shown again.",
        cause="Tokens are stored as digests only, so a retry can't repeat them.",
        fix="If you did not get the first answer, revoke the key named in `id` and ask for a new "
        "one with a new Idempotency-Key.",
        example={"id": "01j00000000000000000000000"},
    ),
    ProblemPage(
        slug="too-many-keys",
        status=409,
        title="Too many keys",
        meaning="You hold as many live keys as a player may.",
        cause="Keys were made and never revoked.",
        fix="Revoke one: `DELETE /players/me/keys/{id}`.",
        example={"limit": 50},
    ),
    ProblemPage(
        slug="body-too-large",
        status=413,
        title="Body too large",
        meaning="The body is larger than the operation takes.",
        cause="A JSON body has at most 64 KiB, an export to verify at most 2 MiB.",
        fix="Send less; verify larger exports offline, with `fairdeal verify`.",
    ),
    ProblemPage(
        slug="unsupported-media-type",
        status=415,
        title="Unsupported media type",
        meaning="The body is not declared as what the operation takes.",
        cause="The Content-Type header is missing or names another type.",
        fix="Send `Content-Type: application/json`, or `application/x-ndjson` to /verify.",
    ),
    ProblemPage(
        slug="validation-failed",
        status=422,
        title="Validation failed",
        meaning="The body is JSON, but not of the right shape. Nothing was changed.",
        cause="A field is missing, unknown, of another type or out of range.",
        fix="`errors` names each by a JSON pointer.",
        example={"errors": [{"pointer": "/seats", "detail": "Not a valid integer."}]},
    ),
    ProblemPage(
        slug="idempotency-key-reused",
        status=422,
        title="Idempotency-Key reused",
        meaning="This key was used with another body. Nothing was changed.",
        cause="A key stands for one thing to be done; this one has been done. (A request that was "
        "refused binds no key.)",
        fix="Take a new key for a new request, and the old one only to retry the old request.",
    ),
    ProblemPage(
        slug="reveal-not-last",
        status=422,
        title="Reveal not last",
        meaning="A move that shows a hidden card or ends the turn must come last in its batch.",
        cause="A batch is all or nothing: a draw that could be undone would be a peek.",
        fix="End the batch with the move at `move_index`; send the rest when you have its answer.",
        example={"move_index": 0},
    ),
    ProblemPage(
        slug="illegal-move",
        status=422,
        title="Illegal move",
        meaning="The rules of the game forbid this move. Nothing was changed.",
        cause="`rule` is the number of the rule, `detail` says how the move breaks it.",
        fix="Choose one of `legal_moves`. `rule_url` has the rule in full.",
        example={
            "rule": "G7",
            "rule_url": "/rulesets/jokers-go-boom/1#G7",
            "move_index": 0,
            "legal_moves": [{"type": "draw"}],
            "current_version": 42,
            "to_act": 2,
        },
    ),
    ProblemPage(
        slug="precondition-required",
        status=428,
        title="Precondition required",
        meaning="A move must be safe to send again. Nothing was changed.",
        cause="With neither an Idempotency-Key nor `expected_version`, the retry of a lost answer "
        "could be a second move.",
        fix="Send an `Idempotency-Key` header (best), or `expected_version` in the body.",
    ),
    ProblemPage(
        slug="head-not-found",
        status=404,
        title="Head not found",
        meaning="The game never ended a write with an event of this hash.",
        cause="The hash is of another game, of an event in the middle of a write, or misspelt.",
        fix="Take `head` from a view, or `hash` from a receipt.",
    ),
    ProblemPage(
        slug="checkpoint-not-found",
        status=404,
        title="Checkpoint not found",
        meaning="No checkpoint of this size was signed.",
        cause="The size is of no checkpoint, no game was played yet, or the worker that signs "
        "does not run.",
        fix="Take the newest from /checkpoints/latest. For a proof, `from` is the smaller size.",
    ),
    ProblemPage(
        slug="invitation-not-found",
        status=404,
        title="Invitation not found",
        meaning="You made no invitation with this id.",
        cause="It is somebody else's, of another game, or misspelt.",
        fix="Take `id` from the answer that you got the invitation with.",
    ),
    ProblemPage(
        slug="not-away",
        status=409,
        title="Not away",
        meaning="No bot plays on for you in this game.",
        cause="You hold your seat, never held one, or gave it up for good.",
        fix="Only who was away for three turns in a row comes back.",
    ),
    ProblemPage(
        slug="game-not-over",
        status=409,
        title="Game not over",
        meaning="The game had not ended with that event: its replay is not fixed yet.",
        cause="Only the replay of a game that ended is the same for ever.",
        fix="Watch a running game by `GET /games/{game}/replay`.",
    ),
    ProblemPage(
        slug="verifier-busy",
        status=503,
        title="Verifier busy",
        meaning="This process verifies another log just now.",
        cause="One log at a time is verified, so that moves go on.",
        fix="Try again after `Retry-After`, or run `fairdeal verify` yourself.",
    ),
    ProblemPage(
        slug="too-many-requests",
        status=429,
        title="Too many requests",
        meaning="You asked more often than a policy allows. Nothing was done.",
        cause="Polling in a tight loop, or many clients behind one key or one address.",
        fix="Wait as long as `Retry-After` says. Follow a game by a stream instead of asking again "
        "and again; the `RateLimit` header of every answer says what is left.",
        example={"policy": "reads", "retry_after": 2},
    ),
    ProblemPage(
        slug="too-many-streams",
        status=429,
        title="Too many streams",
        meaning="A key holds a limited number of streams, and so does a process.",
        cause="Streams that were opened and never closed, or a client that opens one a game.",
        fix="Close one, or wait as long as `Retry-After` says.",
        example={"limit": 20},
    ),
    ProblemPage(
        slug="internal-error",
        status=500,
        title="Internal error",
        meaning="The service failed. Nothing half-done was kept.",
        cause="A fault of ours; it has been noted under `instance`.",
        fix="Try again with the same Idempotency-Key; if it stays, report `instance`.",
    ),
    ProblemPage(
        slug="not-ready",
        status=503,
        title="Not ready",
        meaning="This process can't serve yet.",
        cause="The database's schema is of another release than the process.",
        fix="Run `fairdeal migrate`, or wait until whoever deploys has.",
    ),
    ProblemPage(
        slug="database-unavailable",
        status=503,
        title="Database unavailable",
        meaning="The database did not answer in time.",
        cause="It is restarting, or overloaded.",
        fix="Wait as long as `Retry-After` says. Send a write again with the same Idempotency-Key: "
        "it is done once, whether or not it was done the first time.",
    ),
)
