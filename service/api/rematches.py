"""A rematch, and who is there for it."""

from service.api import answers
from service.api.games import seated_answer
from service.api.operation import JSON, PRIVATE_NO_STORE, Answer, Call, Operation, Returns
from service.api.schemas import EmptyRequestSchema
from service.play.caller import PLAY, READ
from service.play.limits import CREATION
from service.play.presence import present_seats
from service.play.rematching import rematch


def post_rematch(call: Call, game: str) -> Answer:
    """Play again."""
    body = call.body()
    call.load(body)
    key = call.key(body)
    return seated_answer(call, rematch(call.services, call.known_caller.player, game, key))


def get_presence(call: Call, game: str) -> Answer:
    """Who is there."""
    seats = present_seats(call.services, call.player, game)
    return Answer(200, {"seats": list(seats)}, PRIVATE_NO_STORE)


OPERATIONS = (
    Operation(
        id="rematch",
        method="POST",
        path="/games/{game}/rematch",
        tag="Games",
        summary="Play again",
        description="Opens a game with the same rules and seats, in which the deal passes on: no "
        "cut, the next dealer deals. Whoever asks first opens it, everybody else who played gets "
        "the same one. The seats are kept: sit down by `POST /games/{game}/seats`, with your part "
        "in the shuffle. One rematch a game; another one once it was voided.",
        view=post_rematch,
        policy=CREATION,
        scope=PLAY,
        body=EmptyRequestSchema(),
        returns={
            201: Returns(
                "The rematch, open.",
                {JSON: answers.SeatedSchema()},
                ("Location", "Idempotent-Replayed"),
            )
        },
        refuses=("game-not-found", "game-not-finished", "not-seated", "no-spectators"),
        is_idempotent_by_key=True,
    ),
    Operation(
        id="whoIsPresent",
        method="GET",
        path="/games/{game}/presence",
        tag="Games",
        summary="Who is there",
        description="The seats whose players follow the game by a stream just now. Event streams "
        "tell it themselves, as `presence`.",
        view=get_presence,
        scope=READ,
        is_open=True,
        returns={200: Returns("The seats.", {JSON: answers.PresenceSchema()})},
        refuses=("game-not-found", "no-spectators"),
    ),
)
