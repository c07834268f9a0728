"""A rematch: the same seats, the same rules, and the deal passes on."""

from service.cards import next_seat
from service.log.game import Game, Rematch, Status
from service.play.games import catch_up, current_game
from service.play.idempotency import made_before, within_game
from service.play.opening import BotSeat, OpeningRequest, open_game_as
from service.play.refusals import GameNotFinished, GameNotFound, NotSeated
from service.play.seating import Seated
from service.play.services import Services
from service.store.appends import GameExists, KeyBound, RequestKey
from service.store.reads import read_receipt
from service.store.rematches import claim_rematch, find_rematch


def rematch(services: Services, player: str, game: str, key: RequestKey | None) -> Seated:
    """The game that goes on from a finished one: opened now, or by another player before.

    The seats are kept for who had them; each sits down as in any game, once
    the commitment is known. Raises GameNotFinished and NotSeated.
    """
    ended = current_game(services, game, player)
    if ended.status is not Status.FINISHED or ended.round is None:
        raise GameNotFinished
    if not ended.is_party(player):
        raise NotSeated
    bound = within_game(key, game)
    made = made_before(services, bound)
    if made is not None:
        return _standing(services, catch_up(services, made.resource_id)[0], is_replayed=True)
    known = find_rematch(services.database, game)
    found = None if known is None else _find(services, known)
    if found is None or found.status is Status.VOIDED:
        voided = found.id if found else None
        opened = claim_rematch(services.database, game, services.new_id(), voided)
        found = _find(services, opened)
        if found is None:
            try:
                return open_game_as(services, opened, player, _like(ended), bound)
            except GameExists:
                found, _ = catch_up(services, opened)
            except KeyBound:
                return rematch(services, player, game, key)
    return _standing(services, found)


def _standing(services: Services, game: Game, *, is_replayed: bool = False) -> Seated:
    """The rematch as it stands; nothing was written."""
    receipt = read_receipt(services.database, game.id, game.version)
    return Seated(seat=None, game=game, receipt=receipt, is_replayed=is_replayed, is_written=False)


def _find(services: Services, game: str) -> Game | None:
    """The game, unless whoever was to open it has not."""
    try:
        return catch_up(services, game)[0]
    except GameNotFound:
        return None


def _like(ended: Game) -> OpeningRequest:
    """The opening of a game like that one."""
    setup = ended.setup
    players = tuple(
        (occupant.player if occupant else None) or away
        for occupant, away in zip(ended.occupants, ended.away, strict=True)
    )
    dealer = ended.round.dealer if ended.round else ended.seats[0]
    bots = [
        BotSeat(seat, occupant.level)
        for seat, occupant, kept in zip(ended.seats, ended.occupants, players, strict=True)
        if kept is None and occupant is not None and occupant.level is not None
    ]
    return OpeningRequest(
        ruleset=ended.ruleset,
        options=ended.options,
        seats=len(ended.seats),
        visibility=setup.visibility,
        bots=bots,
        sit=False,
        turn_seconds=setup.turn_seconds,
        sandbox_secret=setup.secret.value if setup.sandbox is not None else None,
        spectators=setup.spectators,
        spectator_delay=setup.spectator_delay,
        hold_on_dispute=setup.hold_on_dispute,
        rematch=Rematch(of=ended.id, dealer=next_seat(dealer, len(ended.seats)), players=players),
    )
