"""What the API takes and answers; generated from `openapi.yaml` by `make models`."""

from __future__ import annotations

from typing import TypedDict, Any, Literal, NotRequired, TypeAlias

class Map(TypedDict):
    service: str
    links: dict[str, str]


class ProblemField(TypedDict):
    pointer: str
    detail: str


CrazyRummyDraw = TypedDict(
    'CrazyRummyDraw',
    {
        'type': Literal['draw'],
        'from': Literal['stock', 'discard'],
    }
)


Card: TypeAlias = str


A: TypeAlias = str


CrazyRummyMeld = TypedDict(
    'CrazyRummyMeld',
    {
        'type': Literal['meld'],
        'cards': list[Card],
        'as': NotRequired[list[A]],
    }
)


CrazyRummyLayOff = TypedDict(
    'CrazyRummyLayOff',
    {
        'type': Literal['lay_off'],
        'meld': int,
        'card': str,
        'as': NotRequired[str],
    }
)


class CrazyRummyTakeWild(TypedDict):
    type: Literal['take_wild']
    meld: int
    wild: str
    card: str


class CrazyRummyDiscard(TypedDict):
    type: Literal['discard']
    card: str


CrazyRummyMove: TypeAlias = CrazyRummyDraw | CrazyRummyMeld | CrazyRummyLayOff | CrazyRummyTakeWild | CrazyRummyDiscard


class JokersGoBoomPlay(TypedDict):
    type: Literal['play']
    card: str
    call: NotRequired[Literal['BOOM']]


class JokersGoBoomDraw(TypedDict):
    type: Literal['draw']


class JokersGoBoomPass(TypedDict):
    type: Literal['pass']


JokersGoBoomMove: TypeAlias = JokersGoBoomPlay | JokersGoBoomDraw | JokersGoBoomPass


class Problem(TypedDict):
    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    errors: NotRequired[list[ProblemField]]
    rule: NotRequired[str]
    rule_url: NotRequired[str]
    move_index: NotRequired[int]
    legal_moves: NotRequired[list[CrazyRummyMove | JokersGoBoomMove]]
    readings: NotRequired[list[Any]]
    current_version: NotRequired[int]
    to_act: NotRequired[int | None]
    game_status: NotRequired[str]
    parameter: NotRequired[str]
    scope: NotRequired[str]


class Anything(TypedDict):
    pass


class ProblemItem(TypedDict):
    slug: str
    code: str
    status: int
    title: str
    url: str


class Problems(TypedDict):
    items: list[ProblemItem]
    next_cursor: str | None


class ProblemPage(TypedDict):
    slug: str
    code: str
    status: int
    title: str
    url: str
    meaning: str
    cause: str
    fix: str
    example: dict[str, Any]


class Health(TypedDict):
    status: str


class RulesetItem(TypedDict):
    name: str
    version: str
    title: str
    seats: dict[str, int]
    versions: list[str]
    url: str


class Rulesets(TypedDict):
    items: list[RulesetItem]
    next_cursor: str | None


class Rule(TypedDict):
    rule: str
    text: str


class Ruleset(TypedDict):
    name: str
    version: str
    title: str
    seats: dict[str, int]
    versions: list[str]
    url: str
    options: dict[str, Any]
    moves: dict[str, Any]
    rules: list[Rule]


class PlayerRequest(TypedDict):
    name: str
    kind: NotRequired[Literal['human', 'bot']]


class Player(TypedDict):
    id: str
    name: str
    kind: Literal['human', 'bot']
    created_at: str


class NewKey(TypedDict):
    id: str
    label: str
    scopes: list[Literal['read', 'play', 'keys']]
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None
    token: str


class Registered(TypedDict):
    player: Player
    key: NewKey


class Me(TypedDict):
    player: Player
    scopes: list[Literal['read', 'play', 'keys']]


class Key(TypedDict):
    id: str
    label: str
    scopes: list[Literal['read', 'play', 'keys']]
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None


class KeysPage(TypedDict):
    items: list[Key]
    next_cursor: str | None


class KeyRequest(TypedDict):
    label: NotRequired[str]
    scopes: NotRequired[list[Literal['read', 'play', 'keys']]]
    expires_at: NotRequired[str | None]


class BotSeat(TypedDict):
    seat: int
    level: NotRequired[Literal['random', 'steady']]


class Sandbox(TypedDict):
    secret: str


class GameRequest(TypedDict):
    ruleset: str
    seats: int
    options: NotRequired[dict[str, Any]]
    visibility: NotRequired[Literal['public', 'private']]
    spectators: NotRequired[Literal['public', 'none', 'delayed']]
    spectator_delay: NotRequired[int | None]
    sit: NotRequired[bool]
    bots: NotRequired[list[BotSeat]]
    turn_seconds: NotRequired[int | None]
    hold_on_dispute: NotRequired[bool]
    sandbox: NotRequired[Sandbox | None]


class Receipt(TypedDict):
    game: str
    seq: int
    hash: str
    key: str
    signature: str


class CrazyRummyOptions(TypedDict):
    rounds: NotRequired[int]
    discard_taken: NotRequired[Literal['allowed', 'forbidden']]


class JokersGoBoomOptions(TypedDict):
    jokers: NotRequired[int]
    after_boom: NotRequired[Literal['anything', 'card_below']]
    boom_call: NotRequired[Literal['automatic', 'required']]
    rounds: NotRequired[int | None]


class Viewer(TypedDict):
    role: Literal['seat', 'spectator', 'admin']
    seat: int | None


class SeatedPlayer(TypedDict):
    id: NotRequired[str]
    name: str
    kind: Literal['human', 'bot']
    level: NotRequired[str]


class Seat(TypedDict):
    seat: int
    player: SeatedPlayer | None
    cards: int
    score: int
    hand: NotRequired[list[str]]


class CrazyRummyDiscardPile(TypedDict):
    top: str | None
    count: int


CrazyRummyMeldedCard = TypedDict(
    'CrazyRummyMeldedCard',
    {
        'card': str,
        'as': str,
    }
)


class CrazyRummyTableMeld(TypedDict):
    id: int
    seat: int
    kind: Literal['set', 'run']
    cards: list[CrazyRummyMeldedCard]


class CrazyRummyTable(TypedDict):
    stock: int
    discard: CrazyRummyDiscardPile
    wild: Literal['A', '2', '3', '4', '5', '6', '7', '8', '9', 'T', 'J', 'Q', 'K']
    melded: list[int]
    melds: list[CrazyRummyTableMeld]


class JokersGoBoomDiscardPile(TypedDict):
    top: str
    count: int


class JokersGoBoomFollow(TypedDict):
    suit: Literal['c', 'd', 'h', 's']
    rank: Literal['2', '3', '4', '5', '6', '7', '8', '9', 'T', 'J', 'Q', 'K', 'A']


class JokersGoBoomTable(TypedDict):
    stock: int
    discard: JokersGoBoomDiscardPile
    follow: JokersGoBoomFollow | None


class Fairness(TypedDict):
    algorithm: str
    commitment: str
    sandbox_secret: NotRequired[str]


class Result(TypedDict):
    reason: str
    scores: dict[str, int]
    standings: list[list[int]]
    winners: list[int]


class View(TypedDict):
    game: str
    ruleset: str
    ruleset_version: str
    status: Literal['open', 'active', 'held', 'finished', 'voided']
    sandbox: bool
    visibility: str
    spectators: Literal['public', 'none', 'delayed']
    spectator_delay: int
    hold_on_dispute: bool
    rematch_of: str | None
    options: CrazyRummyOptions | JokersGoBoomOptions
    version: int
    at: int
    head: str
    viewer: Viewer
    round: int | None
    rounds: int
    dealer: int | None
    to_act: int | None
    phase: str | None
    turn_seconds: int | None
    deadline_at: str | None
    seats: list[Seat]
    table: CrazyRummyTable | JokersGoBoomTable | None
    legal_moves: list[CrazyRummyMove | JokersGoBoomMove]
    fairness: Fairness
    result: Result | None
    server_time: str


class Seated(TypedDict):
    seat: int | None
    receipt: Receipt | None
    view: View


class ListedPlayer(TypedDict):
    seat: int
    id: str
    name: str


class ListedGame(TypedDict):
    game: str
    ruleset: str
    ruleset_version: str
    status: Literal['open', 'active', 'held', 'finished', 'voided']
    visibility: str
    spectators: Literal['public', 'none', 'delayed']
    sandbox: bool
    version: int | None
    seats: int
    players: list[ListedPlayer]
    to_act: str | None
    created_at: str
    moved_at: str | None


class GamesPage(TypedDict):
    items: list[ListedGame]
    next_cursor: str | None


class Actor(TypedDict):
    kind: Literal['player', 'bot', 'clock', 'admin', 'system']
    id: NotRequired[str]


class Rematch(TypedDict):
    of: str
    dealer: int
    players: dict[str, str]


class GameCreated(TypedDict):
    ruleset: str
    ruleset_version: str
    options: CrazyRummyOptions | JokersGoBoomOptions
    seats: int
    visibility: str
    sandbox: str | None
    algorithm: str
    commitment: str
    turn_seconds: NotRequired[int]
    spectators: NotRequired[Literal['public', 'none', 'delayed']]
    spectator_delay: NotRequired[int]
    rematch: NotRequired[Rematch]
    hold_on_dispute: NotRequired[bool]


class PrivateFacts(TypedDict):
    hand: NotRequired[list[str]]
    drew: NotRequired[list[str]]


class GameCreatedEvent(TypedDict):
    game: str
    seq: int
    type: Literal['game_created']
    actor: Actor
    at: str
    data: GameCreated
    prev: str
    hash: str
    private: NotRequired[dict[str, PrivateFacts]]


class SeatTaken(TypedDict):
    seat: int
    kind: str
    player: NotRequired[str]
    bot: NotRequired[str]
    contribution: str


class SeatTakenEvent(TypedDict):
    game: str
    seq: int
    type: Literal['seat_taken']
    actor: Actor
    at: str
    data: SeatTaken
    prev: str
    hash: str
    private: NotRequired[dict[str, PrivateFacts]]


class SeatLeft(TypedDict):
    seat: int
    kind: str
    player: NotRequired[str]
    bot: NotRequired[str]


class SeatLeftEvent(TypedDict):
    game: str
    seq: int
    type: Literal['seat_left']
    actor: Actor
    at: str
    data: SeatLeft
    prev: str
    hash: str
    private: NotRequired[dict[str, PrivateFacts]]


class CutCard(TypedDict):
    seat: int
    card: str


class GameStarted(TypedDict):
    cut: list[CutCard]
    dealer: int


class GameStartedEvent(TypedDict):
    game: str
    seq: int
    type: Literal['game_started']
    actor: Actor
    at: str
    data: GameStarted
    prev: str
    hash: str
    private: NotRequired[dict[str, PrivateFacts]]


class RoundStarted(TypedDict):
    round: int
    deal: int
    dealer: int
    first: int
    scores: dict[str, int]
    state_mac: str


class RoundStartedEvent(TypedDict):
    game: str
    seq: int
    type: Literal['round_started']
    actor: Actor
    at: str
    data: RoundStarted
    prev: str
    hash: str
    private: NotRequired[dict[str, PrivateFacts]]


class CrazyRummyOutcome(TypedDict):
    drew: NotRequired[int]
    took: NotRequired[str]
    meld: NotRequired[int]
    wild: NotRequired[str]


class JokersGoBoomOutcome(TypedDict):
    boom: NotRequired[bool]
    drew: NotRequired[list[int]]


class MoveMade(TypedDict):
    seat: int
    move: CrazyRummyMove | JokersGoBoomMove
    outcome: CrazyRummyOutcome | JokersGoBoomOutcome
    state_mac: str


class MoveEvent(TypedDict):
    game: str
    seq: int
    type: Literal['move']
    actor: Actor
    at: str
    data: MoveMade
    prev: str
    hash: str
    private: NotRequired[dict[str, PrivateFacts]]


class RoundEnded(TypedDict):
    round: int
    reason: str
    by: int | None
    hands: dict[str, list[str]]
    points: dict[str, int]
    scores: dict[str, int]


class RoundEndedEvent(TypedDict):
    game: str
    seq: int
    type: Literal['round_ended']
    actor: Actor
    at: str
    data: RoundEnded
    prev: str
    hash: str
    private: NotRequired[dict[str, PrivateFacts]]


class GameEndedEvent(TypedDict):
    game: str
    seq: int
    type: Literal['game_ended']
    actor: Actor
    at: str
    data: Result
    prev: str
    hash: str
    private: NotRequired[dict[str, PrivateFacts]]


class SecretRevealed(TypedDict):
    server_secret: str


class SecretRevealedEvent(TypedDict):
    game: str
    seq: int
    type: Literal['secret_revealed']
    actor: Actor
    at: str
    data: SecretRevealed
    prev: str
    hash: str
    private: NotRequired[dict[str, PrivateFacts]]


class SeatReplaced(TypedDict):
    seat: int
    kind: str
    player: NotRequired[str]
    bot: NotRequired[str]
    reason: Literal['resigned', 'absent', 'returned', 'ruled']


class SeatReplacedEvent(TypedDict):
    game: str
    seq: int
    type: Literal['seat_replaced']
    actor: Actor
    at: str
    data: SeatReplaced
    prev: str
    hash: str
    private: NotRequired[dict[str, PrivateFacts]]


class ClockExtended(TypedDict):
    seat: int
    seconds: int
    reason: Literal['outage', 'ruled']


class ClockExtendedEvent(TypedDict):
    game: str
    seq: int
    type: Literal['clock_extended']
    actor: Actor
    at: str
    data: ClockExtended
    prev: str
    hash: str
    private: NotRequired[dict[str, PrivateFacts]]


class DisputeOpened(TypedDict):
    dispute: str
    seat: int
    reason: Literal['rules', 'deal', 'conduct', 'clock', 'other']
    seqs: list[int]


class DisputeOpenedEvent(TypedDict):
    game: str
    seq: int
    type: Literal['dispute_opened']
    actor: Actor
    at: str
    data: DisputeOpened
    prev: str
    hash: str
    private: NotRequired[dict[str, PrivateFacts]]


class DisputeWithdrawn(TypedDict):
    dispute: str


class DisputeWithdrawnEvent(TypedDict):
    game: str
    seq: int
    type: Literal['dispute_withdrawn']
    actor: Actor
    at: str
    data: DisputeWithdrawn
    prev: str
    hash: str
    private: NotRequired[dict[str, PrivateFacts]]


class GameHeld(TypedDict):
    dispute: NotRequired[str]


class GameHeldEvent(TypedDict):
    game: str
    seq: int
    type: Literal['game_held']
    actor: Actor
    at: str
    data: GameHeld
    prev: str
    hash: str
    private: NotRequired[dict[str, PrivateFacts]]


class GameResumed(TypedDict):
    pass


class GameResumedEvent(TypedDict):
    game: str
    seq: int
    type: Literal['game_resumed']
    actor: Actor
    at: str
    data: GameResumed
    prev: str
    hash: str
    private: NotRequired[dict[str, PrivateFacts]]


class RulingMade(TypedDict):
    ruling: str
    dispute: NotRequired[str]
    outcome: Literal['upheld', 'rejected']
    remedies: list[Literal['none', 'rewind', 'redeal', 'adjust_scores', 'replace_seat', 'extend_clock', 'void', 'award']]
    scores: NotRequired[dict[str, int]]
    reason: NotRequired[str]
    standings: NotRequired[list[list[int]]]
    winners: NotRequired[list[int]]


class RulingEvent(TypedDict):
    game: str
    seq: int
    type: Literal['ruling']
    actor: Actor
    at: str
    data: RulingMade
    prev: str
    hash: str
    private: NotRequired[dict[str, PrivateFacts]]


class Rewound(TypedDict):
    to: int
    round: int
    deal: int
    stock: int
    state_mac: str


class RewoundEvent(TypedDict):
    game: str
    seq: int
    type: Literal['rewound']
    actor: Actor
    at: str
    data: Rewound
    prev: str
    hash: str
    private: NotRequired[dict[str, PrivateFacts]]


class HiddenReadDisclosed(TypedDict):
    read: str
    version: int
    seats: list[int]


class HiddenReadDisclosedEvent(TypedDict):
    game: str
    seq: int
    type: Literal['hidden_read_disclosed']
    actor: Actor
    at: str
    data: HiddenReadDisclosed
    prev: str
    hash: str
    private: NotRequired[dict[str, PrivateFacts]]


Event: TypeAlias = GameCreatedEvent | SeatTakenEvent | SeatLeftEvent | GameStartedEvent | RoundStartedEvent | MoveEvent | RoundEndedEvent | GameEndedEvent | SecretRevealedEvent | SeatReplacedEvent | ClockExtendedEvent | DisputeOpenedEvent | DisputeWithdrawnEvent | GameHeldEvent | GameResumedEvent | RulingEvent | RewoundEvent | HiddenReadDisclosedEvent


class Tableau(TypedDict):
    game: str
    ruleset: str
    ruleset_version: str
    status: Literal['open', 'active', 'held', 'finished', 'voided']
    sandbox: bool
    visibility: str
    spectators: Literal['public', 'none', 'delayed']
    spectator_delay: int
    hold_on_dispute: bool
    rematch_of: str | None
    options: CrazyRummyOptions | JokersGoBoomOptions
    version: int
    at: int
    head: str
    viewer: Viewer
    round: int | None
    rounds: int
    dealer: int | None
    to_act: int | None
    phase: str | None
    turn_seconds: int | None
    deadline_at: str | None
    seats: list[Seat]
    table: CrazyRummyTable | JokersGoBoomTable | None
    legal_moves: list[CrazyRummyMove | JokersGoBoomMove]
    fairness: Fairness
    result: Result | None


class Frame(TypedDict):
    seq: int
    event: NotRequired[Event]
    view: Tableau


class Replay(TypedDict):
    items: list[Frame]
    next_from: int | None
    version: int
    abandoned: list[list[int]]


class SeatRequest(TypedDict):
    seat: NotRequired[int | None]
    contribution: NotRequired[str]
    invitation: NotRequired[str | None]


class InvitationRequest(TypedDict):
    expires_in: NotRequired[int]
    player: NotRequired[str | None]


class Invitation(TypedDict):
    id: str
    token: str
    url: str
    expires_at: str


class ContributionRequest(TypedDict):
    contribution: str


class Left(TypedDict):
    receipt: Receipt | None


class EmptyRequest(TypedDict):
    pass


class MoveRequest(TypedDict):
    move: NotRequired[CrazyRummyMove | JokersGoBoomMove]
    moves: NotRequired[list[CrazyRummyMove | JokersGoBoomMove]]
    expected_version: NotRequired[int]
    seat: NotRequired[int]


class Moved(TypedDict):
    version: int
    events: list[Event]
    receipt: Receipt | None
    view: View


class EventsPage(TypedDict):
    items: list[Event]
    next_after: int
    version: int
    more: bool


class Ticket(TypedDict):
    ticket: str
    expires_at: str


class Presence(TypedDict):
    seats: list[int]


class NoticeData(TypedDict):
    game: str
    seq: NotRequired[int]


class Notice(TypedDict):
    cursor: str
    type: Literal['game.turn', 'game.started', 'game.ended', 'game.seat_lost', 'game.invitation', 'game.rematch']
    at: str
    data: NoticeData


class NoticesPage(TypedDict):
    items: list[Notice]
    next_cursor: str
    more: bool


class WebhookRequest(TypedDict):
    url: str
    types: NotRequired[list[Literal['game.turn', 'game.started', 'game.ended', 'game.seat_lost', 'game.invitation', 'game.rematch']]]
    description: NotRequired[str]


class NewWebhook(TypedDict):
    id: str
    url: str
    types: list[str]
    description: str
    enabled: bool
    disabled_reason: Literal['asked', 'failing', 'gone'] | None
    failing_since: str | None
    created_at: str
    secret: str


class Webhook(TypedDict):
    id: str
    url: str
    types: list[str]
    description: str
    enabled: bool
    disabled_reason: Literal['asked', 'failing', 'gone'] | None
    failing_since: str | None
    created_at: str


class WebhooksPage(TypedDict):
    items: list[Webhook]
    next_cursor: str | None


class WebhookChange(TypedDict):
    url: NotRequired[str]
    types: NotRequired[list[Literal['game.turn', 'game.started', 'game.ended', 'game.seat_lost', 'game.invitation', 'game.rematch']]]
    description: NotRequired[str]
    enabled: NotRequired[bool]


class Payload(TypedDict):
    type: str
    timestamp: str
    data: dict[str, Any]


class Delivery(TypedDict):
    id: str
    type: str
    status: Literal['pending', 'delivered', 'failed']
    attempts: int
    created_at: str
    next_at: str | None
    last_at: str | None
    last_status: int | None
    last_error: str | None
    payload: Payload


class DeliveriesPage(TypedDict):
    items: list[Delivery]
    next_cursor: str | None


Seq: TypeAlias = int


class DisputeRequest(TypedDict):
    reason: Literal['rules', 'deal', 'conduct', 'clock', 'other']
    seqs: NotRequired[list[Seq]]
    statement: str


class Message(TypedDict):
    id: str
    author: Actor
    visibility: Literal['parties', 'admins']
    body: str
    at: str


class Decision(TypedDict):
    id: str
    outcome: Literal['upheld', 'rejected']
    remedies: list[dict[str, Any]]
    public_reason: str
    seq: int
    at: str


class Dispute(TypedDict):
    id: str
    game: str
    seat: int
    player: str
    reason: Literal['rules', 'deal', 'conduct', 'clock', 'other']
    seqs: list[int]
    status: Literal['open', 'under_review', 'resolved', 'withdrawn']
    is_appealed: bool
    assignee: str | None
    opened_at: str
    closed_at: str | None
    statement: str
    messages: list[Message]
    rulings: list[Decision]


class Filed(TypedDict):
    dispute: Dispute
    receipt: Receipt | None


class ListedDispute(TypedDict):
    id: str
    game: str
    seat: int
    player: str
    reason: Literal['rules', 'deal', 'conduct', 'clock', 'other']
    seqs: list[int]
    status: Literal['open', 'under_review', 'resolved', 'withdrawn']
    is_appealed: bool
    assignee: str | None
    opened_at: str
    closed_at: str | None


class DisputesPage(TypedDict):
    items: list[ListedDispute]
    next_cursor: str | None


class MessageRequest(TypedDict):
    body: str


class AdminDecision(TypedDict):
    id: str
    outcome: Literal['upheld', 'rejected']
    remedies: list[dict[str, Any]]
    public_reason: str
    seq: int
    at: str
    admin: str
    private_note: str


class AdminDispute(TypedDict):
    id: str
    game: str
    seat: int
    player: str
    reason: Literal['rules', 'deal', 'conduct', 'clock', 'other']
    seqs: list[int]
    status: Literal['open', 'under_review', 'resolved', 'withdrawn']
    is_appealed: bool
    assignee: str | None
    opened_at: str
    closed_at: str | None
    version: int
    statement: str
    messages: list[Message]
    rulings: list[AdminDecision]


class DisputeChange(TypedDict):
    status: NotRequired[Literal['open', 'under_review']]
    assignee: NotRequired[Literal['me'] | None]


class AdminMessageRequest(TypedDict):
    body: str
    visibility: NotRequired[Literal['parties', 'admins']]


class NoRemedy(TypedDict):
    kind: Literal['none']


class Rewind(TypedDict):
    kind: Literal['rewind']
    to: int


class Redeal(TypedDict):
    kind: Literal['redeal']
    round: NotRequired[int]


class AdjustScores(TypedDict):
    kind: Literal['adjust_scores']
    scores: dict[str, int]


class ReplaceSeat(TypedDict):
    kind: Literal['replace_seat']
    seat: int


class ExtendClock(TypedDict):
    kind: Literal['extend_clock']
    seconds: int


class Void(TypedDict):
    kind: Literal['void']


class Award(TypedDict):
    kind: Literal['award']
    standings: list[list[int]]


Remedy: TypeAlias = NoRemedy | Rewind | Redeal | AdjustScores | ReplaceSeat | ExtendClock | Void | Award


class RulingRequest(TypedDict):
    outcome: Literal['upheld', 'rejected']
    remedies: NotRequired[list[Remedy]]
    public_reason: str
    private_note: NotRequired[str]
    dry_run: NotRequired[bool]


class Preview(TypedDict):
    events: list[str]
    version: int
    status: Literal['open', 'active', 'held', 'finished', 'voided']
    round: int | None
    to_act: int | None
    scores: dict[str, int]
    result: Result | None
    abandoned: list[list[int]]


class Ruled(TypedDict):
    dispute: NotRequired[AdminDispute]
    version: NotRequired[int]
    events: NotRequired[list[Event]]
    receipt: NotRequired[Receipt | None]
    preview: NotRequired[Preview]


class RefusedMove(TypedDict):
    version: int
    player: str
    key: str
    key_label: str | None
    seat: int | None
    code: str
    rule: str | None
    request: str
    moves: NotRequired[list[dict[str, Any]]]


class Connection(TypedDict):
    player: str
    came: bool


class Moment(TypedDict):
    kind: Literal['event', 'attempt', 'replay', 'connection']
    at: str
    event: NotRequired[Event]
    attempt: NotRequired[RefusedMove]
    replay: NotRequired[RefusedMove]
    connection: NotRequired[Connection]


class Timeline(TypedDict):
    items: list[Moment]
    next_cursor: str | None


Seat1: TypeAlias = int


class HiddenReadRequest(TypedDict):
    reason: str
    at: NotRequired[int | None]
    seats: NotRequired[list[Seat1] | None]
    dispute: NotRequired[str | None]
    approval: NotRequired[str | None]


class Knowledge(TypedDict):
    seat: int
    hand: list[str]
    open: list[str]
    known: dict[str, list[str]]
    unseen: list[str]
    unseen_in: dict[str, Any]


class HiddenView(TypedDict):
    game: str
    ruleset: str
    ruleset_version: str
    status: Literal['open', 'active', 'held', 'finished', 'voided']
    sandbox: bool
    visibility: str
    spectators: Literal['public', 'none', 'delayed']
    spectator_delay: int
    hold_on_dispute: bool
    rematch_of: str | None
    options: CrazyRummyOptions | JokersGoBoomOptions
    version: int
    at: int
    head: str
    viewer: Viewer
    round: int | None
    rounds: int
    dealer: int | None
    to_act: int | None
    phase: str | None
    turn_seconds: int | None
    deadline_at: str | None
    seats: list[Seat]
    table: CrazyRummyTable | JokersGoBoomTable | None
    legal_moves: list[CrazyRummyMove | JokersGoBoomMove]
    fairness: Fairness
    result: Result | None
    server_time: str
    knowledge: list[Knowledge]


class LookRequest(TypedDict):
    reason: str
    at: NotRequired[int | None]
    seats: NotRequired[list[Seat1] | None]
    dispute: NotRequired[str | None]


class Look(TypedDict):
    id: str
    game: str
    admin: str
    name: str
    version: int
    seats: list[int]
    reason: str
    dispute: str | None
    asked_at: str
    approved_by: str | None
    approved_at: str | None


class LooksPage(TypedDict):
    items: list[Look]
    next_cursor: str | None


class WhatIfRequest(TypedDict):
    at: int
    moves: list[dict[str, Any]]
    reason: NotRequired[str | None]
    dispute: NotRequired[str | None]
    approval: NotRequired[str | None]


class TriedMove(TypedDict):
    move: dict[str, Any]
    seat: int | None
    legal: bool
    rule: str | None
    detail: str | None
    reveals: bool


class Tried(TypedDict):
    moves: list[TriedMove]
    view: View
    knowledge: list[Knowledge]


class Held(TypedDict):
    status: Literal['open', 'active', 'held', 'finished', 'voided']
    version: int


class Verdict(TypedDict):
    check: Literal['canonical', 'chain', 'completeness', 'commitment', 'deals', 'moves', 'consequences', 'scores', 'signature', 'inclusion']
    status: Literal['passed', 'failed', 'not_checked']
    seq: int | None
    detail: str


class Report(TypedDict):
    game: str | None
    events: int
    outcome: Literal['verified', 'incomplete', 'failed']
    checks: list[Verdict]


class HandOddsRequest(TypedDict):
    at: int
    seat: int


class Odds(TypedDict):
    kind: str
    count: int
    of: int
    one_in: float
    exact: str
    words: str


class HandOdds(TypedDict):
    dealt_at: int
    seat: int
    hand: list[str]
    odds: list[Odds]


class ErasureRequest(TypedDict):
    reason: str


class TrailLine(TypedDict):
    seq: int
    at: str
    admin: str
    action: str
    facts: dict[str, Any]
    prev: str
    hash: str


class Trail(TypedDict):
    items: list[TrailLine]
    next_cursor: str | None


class SigningKey(TypedDict):
    id: str
    algorithm: Literal['Ed25519']
    public_key: str
    valid_from: str
    valid_until: str | None
    note_key: str


class SigningKeys(TypedDict):
    origin: str
    keys: list[SigningKey]


class Deck(TypedDict):
    round: int
    deal: int
    cards: list[str]


class FairnessRecord(TypedDict):
    game: str
    algorithm: str
    commitment: str
    sandbox: bool
    contributions: dict[str, str]
    protected_seats: list[int]
    server_secret: str | None
    cut: list[str] | None
    decks: list[Deck]


Consistency = TypedDict(
    'Consistency',
    {
        'from': int,
        'to': int,
        'path': list[str],
    },
)


class Texts(TypedDict):
    language: str
    texts: dict[str, str]
