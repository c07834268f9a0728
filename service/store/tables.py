"""The tables, as the queries know them; migrations/ makes them.

Every key of the write path begins with the game, and nothing else is unique
across games there: that column distributes a cluster and partitions one node.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
    true,
)
from sqlalchemy.dialects.postgresql import ARRAY

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)

_TIME = DateTime(timezone=True)

ENDED = ("finished", "voided")
"""The states of a game in which nobody plays any more."""

players = Table(
    "players",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("kind", Text, CheckConstraint("kind IN ('human', 'bot')", "kind"), nullable=False),
    Column("created_at", _TIME, nullable=False),
    Column("forgotten_at", _TIME),
    comment="Accounts. A name stands here alone, never in a log.",
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("player_id", Text, ForeignKey("players.id"), nullable=False, index=True),
    Column("digest", LargeBinary, nullable=False, unique=True, comment="SHA-256 of the token"),
    Column("label", Text, nullable=False),
    Column("scopes", ARRAY(Text), nullable=False),
    Column("created_at", _TIME, nullable=False),
    Column("expires_at", _TIME),
    Column("last_used_at", _TIME),
    Column("revoked_at", _TIME),
    comment="Keys of the players; the token itself is shown once and kept nowhere.",
)

games = Table(
    "games",
    metadata,
    Column("id", Text, primary_key=True),
    Column("version", Integer, CheckConstraint("version > 0", "version"), nullable=False),
    Column("head", Text, nullable=False, comment="hash of the last event"),
    Column("status", Text, nullable=False),
    Column("ruleset", Text, nullable=False),
    Column("ruleset_version", Text, nullable=False),
    Column("visibility", Text, nullable=False),
    Column("sandbox", Boolean, nullable=False),
    Column("seats", SmallInteger, nullable=False),
    Column("creator", Text, nullable=False),
    Column("players", ARRAY(Text), nullable=False, comment="by seat; '' where no player sits"),
    Column("to_act", Text, comment="the player whose turn it is"),
    Column("bot_to_act", Boolean, nullable=False),
    Column("created_at", _TIME, nullable=False),
    Column("moved_at", _TIME, nullable=False),
    Column("deadline_at", _TIME, comment="when the clock plays for the seat that is to act"),
    Column(
        "spectators",
        Text,
        nullable=False,
        server_default="public",
        comment="public, none or delayed",
    ),
    Index("ix_games_players", "players", postgresql_using="gin"),
    Index("ix_games_status_id", "status", "id"),
    Index("ix_games_moved_at", "moved_at"),
    Index("ix_games_deadline_at", "deadline_at", postgresql_where=text("deadline_at IS NOT NULL")),
    Index("ix_games_bot_to_act", "id", postgresql_where=text("bot_to_act")),
    comment="The head row: one a game, the only row of a game that is ever updated.",
    postgresql_with={"fillfactor": "70"},
)

events = Table(
    "events",
    metadata,
    Column("game_id", Text, primary_key=True),
    Column("seq", Integer, CheckConstraint("seq > 0", "seq"), primary_key=True),
    Column("type", Text, nullable=False),
    Column("body", Text, nullable=False, comment="the canonical line, hash included"),
    Column("signed_with", Text, comment="of the last event of an append: the signing key's id"),
    Column("signature", Text, comment="under this event as the game's head, base64url"),
    Index("ix_events_milestones", "game_id", "seq", postgresql_where=text("type <> 'move'")),
    comment="The log. Rows are only ever added.",
)

game_secrets = Table(
    "game_secrets",
    metadata,
    Column("game_id", Text, primary_key=True),
    Column("secret", LargeBinary, nullable=False),
    Column("sealed_with", Text, comment="id of the key it is encrypted with, if it is"),
    comment="What each game is dealt from; in no log until the game has ended.",
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("game_id", Text, primary_key=True),
    Column("player_id", Text, primary_key=True),
    Column("route", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("fingerprint", LargeBinary, nullable=False, comment="SHA-256 of the canonical body"),
    Column("first_seq", Integer, nullable=False),
    Column("last_seq", Integer, nullable=False),
    comment="Which events a request wrote, so that its retry is answered alike.",
)

creation_keys = Table(
    "creation_keys",
    metadata,
    Column("player_id", Text, primary_key=True),
    Column("route", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("fingerprint", LargeBinary, nullable=False, comment="SHA-256 of the canonical body"),
    Column("resource_id", Text, nullable=False),
    Column("version", BigInteger, nullable=False, comment="of the game that was made; 0 for a key"),
    comment="What a request made, where there was no game yet to file its key under.",
)

tree_leaves = Table(
    "tree_leaves",
    metadata,
    Column("index", BigInteger, CheckConstraint("index >= 0", "index"), primary_key=True),
    Column("game_id", Text, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("head", Text, nullable=False, comment="hash of that event"),
    Column("final", Boolean, nullable=False, comment="whether the game had ended"),
    UniqueConstraint("game_id", "seq"),
    comment="Heads of games, in the order in which they entered the Merkle tree.",
)

tree_nodes = Table(
    "tree_nodes",
    metadata,
    Column("level", SmallInteger, primary_key=True),
    Column("index", BigInteger, primary_key=True),
    Column("hash", LargeBinary, CheckConstraint("octet_length(hash) = 32", "hash"), nullable=False),
    comment="Complete nodes of the Merkle tree (RFC 6962).",
)

checkpoints = Table(
    "checkpoints",
    metadata,
    Column("size", BigInteger, CheckConstraint("size > 0", "size"), primary_key=True),
    Column("note", Text, nullable=False, comment="the signed note"),
    Column("created_at", _TIME, nullable=False),
    comment="Signed roots of the Merkle tree, one a size at which it was signed.",
)

stream_tickets = Table(
    "stream_tickets",
    metadata,
    Column("digest", LargeBinary, primary_key=True, comment="SHA-256 of the ticket"),
    Column("game_id", Text, nullable=False),
    Column("player_id", Text, nullable=False),
    Column("key_id", Text, nullable=False, comment="the key that got it"),
    Column("expires_at", _TIME, nullable=False, index=True),
    comment="Tickets for one stream each; a row is gone once it is used.",
)

heartbeats = Table(
    "heartbeats",
    metadata,
    Column("id", SmallInteger, CheckConstraint("id = 1", "id"), primary_key=True),
    Column("at", _TIME, nullable=False),
    comment="When some worker was last alive; a gap is an outage.",
)

outages = Table(
    "outages",
    metadata,
    Column("began_at", _TIME, primary_key=True),
    Column("ended_at", _TIME, nullable=False),
    comment="Times in which no worker was alive: they count against no player.",
)

invitations = Table(
    "invitations",
    metadata,
    Column("digest", LargeBinary, primary_key=True, comment="SHA-256 of the invitation"),
    Column("id", Text, nullable=False, unique=True),
    Column("game_id", Text, nullable=False),
    Column("player_id", Text, nullable=False, comment="who invites"),
    Column("expires_at", _TIME, nullable=False),
    Column("revoked_at", _TIME),
    Column("invitee_id", Text, index=True, comment="who is invited by name, if somebody is"),
    Column("told", Boolean, nullable=False, server_default=true()),
    Index("ix_invitations_told", "id", postgresql_where=text("NOT told")),
    comment="Who has one may sit down at a private table.",
)

rematches = Table(
    "rematches",
    metadata,
    Column("game_id", Text, primary_key=True),
    Column("rematch_id", Text, nullable=False, comment="the game that goes on from it"),
    comment="One rematch a game; another one once that is voided.",
)

presence = Table(
    "presence",
    metadata,
    Column("game_id", Text, primary_key=True),
    Column("player_id", Text, primary_key=True),
    Column("process", Text, primary_key=True, comment="which process holds the stream"),
    Column("until", _TIME, nullable=False, index=True),
    comment="Who follows a game from a seat, for a few seconds at a time; never in a log.",
)

mailboxes = Table(
    "mailboxes",
    metadata,
    Column("player_id", Text, primary_key=True),
    Column("newest", Integer, nullable=False, comment="number of the newest notice"),
    comment="How many notices a player ever got.",
)

notices = Table(
    "notices",
    metadata,
    Column("player_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True, comment="1, 2, 3 … for each player"),
    Column("type", Text, nullable=False),
    Column("game_id", Text, nullable=False),
    Column("data", Text, nullable=False, comment="JSON; no card"),
    Column("at", _TIME, nullable=False, index=True),
    comment="What players are told of their games; written by one dispatcher at a time.",
)

told = Table(
    "told",
    metadata,
    Column("game_id", Text, primary_key=True),
    Column("seq", Integer, nullable=False),
    comment="Up to which event of a game its players were told.",
)

webhooks = Table(
    "webhooks",
    metadata,
    Column("id", Text, primary_key=True),
    Column("player_id", Text, nullable=False, index=True),
    Column("url", Text, nullable=False),
    Column("types", ARRAY(Text), nullable=False, comment="none for every type"),
    Column("description", Text, nullable=False),
    Column("secret", LargeBinary, nullable=False),
    Column("sealed_with", Text, comment="id of the key it is encrypted with, if it is"),
    Column("old_secret", LargeBinary, comment="signs as well, for a while"),
    Column("old_sealed_with", Text),
    Column("old_until", _TIME),
    Column("created_at", _TIME, nullable=False),
    Column("failing_since", _TIME),
    Column("disabled_at", _TIME),
    Column("disabled_reason", Text, comment="asked, failing or gone"),
    comment="Where players want to be told what happens in their games.",
)

webhook_deliveries = Table(
    "webhook_deliveries",
    metadata,
    Column("id", Text, primary_key=True),
    Column("webhook_id", Text, ForeignKey("webhooks.id", ondelete="CASCADE"), nullable=False),
    Column("game_id", Text, nullable=False, comment="what is of one game is in order"),
    Column("number", Integer, nullable=False, comment="of the notice"),
    Column("type", Text, nullable=False),
    Column("payload", Text, nullable=False, comment="the body, to the byte"),
    Column("created_at", _TIME, nullable=False, index=True),
    Column(
        "status",
        Text,
        CheckConstraint("status IN ('pending', 'delivered', 'failed')", "status"),
        nullable=False,
    ),
    Column("attempts", Integer, nullable=False),
    Column("next_at", _TIME, comment="null: waits for an earlier one of its game"),
    Column("last_at", _TIME),
    Column("last_status", Integer),
    Column("last_error", Text),
    Index(
        "ix_webhook_deliveries_due",
        "webhook_id",
        "next_at",
        postgresql_where=text("status = 'pending' AND next_at IS NOT NULL"),
    ),
    Index(
        "ix_webhook_deliveries_pending",
        "webhook_id",
        "game_id",
        "number",
        postgresql_where=text("status = 'pending'"),
    ),
    Index("ix_webhook_deliveries_webhook_id", "webhook_id", "id"),
    comment="The outbox: written with the notices, sent at least once.",
)

dispatched = Table(
    "dispatched",
    metadata,
    Column("id", SmallInteger, CheckConstraint("id = 1", "id"), primary_key=True),
    Column("at", _TIME, nullable=False),
    comment="When a dispatcher last saw all that there was to tell.",
)

admin_keys = Table(
    "admin_keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False, unique=True, comment="SHA-256 of the token"),
    Column("scopes", ARRAY(Text), nullable=False),
    Column("players", ARRAY(Text), nullable=False, comment="accounts of the same person"),
    Column("created_at", _TIME, nullable=False),
    Column("expires_at", _TIME),
    Column("last_used_at", _TIME),
    Column("revoked_at", _TIME),
    comment="Keys of admins; made by the command, never over HTTP.",
)

disputes = Table(
    "disputes",
    metadata,
    Column("id", Text, primary_key=True),
    Column("game_id", Text, nullable=False),
    Column("seat", SmallInteger, nullable=False),
    Column("player_id", Text, nullable=False, comment="who filed it"),
    Column("parties", ARRAY(Text), nullable=False, comment="who played then"),
    Column("reason", Text, nullable=False),
    Column("seqs", ARRAY(Integer), nullable=False),
    Column("statement", Text, nullable=False),
    Column(
        "status",
        Text,
        CheckConstraint("status IN ('open', 'under_review', 'resolved', 'withdrawn')", "status"),
        nullable=False,
    ),
    Column("version", Integer, nullable=False),
    Column("assignee", Text, comment="an admin key"),
    Column("appealed_at", _TIME),
    Column("opened_at", _TIME, nullable=False),
    Column("closed_at", _TIME),
    Index("ix_disputes_parties", "parties", postgresql_using="gin"),
    Index(
        "uq_disputes_open",
        "game_id",
        "seat",
        unique=True,
        postgresql_where=text("status IN ('open', 'under_review')"),
    ),
    comment="What players complain of.",
)

dispute_messages = Table(
    "dispute_messages",
    metadata,
    Column("id", Text, primary_key=True),
    Column("dispute_id", Text, nullable=False),
    Column("author_kind", Text, nullable=False),
    Column("author_id", Text, nullable=False),
    Column("visibility", Text, nullable=False, comment="parties or admins"),
    Column("body", Text, nullable=False),
    Column("at", _TIME, nullable=False),
    Index("ix_dispute_messages_dispute_id", "dispute_id", "id"),
    comment="What is said about a dispute.",
)

rulings = Table(
    "rulings",
    metadata,
    Column("id", Text, primary_key=True),
    Column("dispute_id", Text, nullable=False, index=True),
    Column("game_id", Text, nullable=False),
    Column("admin_id", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("remedies", Text, nullable=False, comment="JSON"),
    Column("public_reason", Text, nullable=False),
    Column("private_note", Text, nullable=False),
    Column("seq", Integer, nullable=False, comment="of its event"),
    Column("at", _TIME, nullable=False),
    comment="What was decided, and why.",
)

attempts = Table(
    "attempts",
    metadata,
    Column("id", Text, primary_key=True),
    Column("game_id", Text, nullable=False),
    Column("at", _TIME, nullable=False, index=True),
    Column("version", Integer, nullable=False, comment="of the game then"),
    Column("player_id", Text, nullable=False),
    Column("key_id", Text, nullable=False),
    Column("seat", SmallInteger),
    Column("code", Text, nullable=False),
    Column("rule", Text),
    Column("moves", Text, nullable=False, comment="JSON, as they were asked for"),
    Column("request_id", Text, nullable=False),
    Index("ix_attempts_game_id", "game_id", "at"),
    comment="Moves that were refused; kept for a while.",
)

hidden_reads = Table(
    "hidden_reads",
    metadata,
    Column("id", Text, primary_key=True),
    Column("game_id", Text, nullable=False),
    Column("admin_id", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("seats", ARRAY(SmallInteger), nullable=False),
    Column("at", _TIME, nullable=False),
    Column("disclosed", Boolean, nullable=False, server_default=false()),
    Index("ix_hidden_reads_game_id", "game_id", postgresql_where=text("NOT disclosed")),
    comment="Hands of running games that admins looked at; told to the players at the end.",
)

connections = Table(
    "connections",
    metadata,
    Column("id", Text, primary_key=True),
    Column("game_id", Text, nullable=False),
    Column("at", _TIME, nullable=False, index=True),
    Column("player_id", Text, nullable=False),
    Column("came", Boolean, nullable=False, comment="or went"),
    Index("ix_connections_game_id", "game_id", "at"),
    comment="When players came to follow their games, and when they left; kept for a while.",
)

hidden_read_requests = Table(
    "hidden_read_requests",
    metadata,
    Column("id", Text, primary_key=True),
    Column("game_id", Text, nullable=False),
    Column("admin_id", Text, nullable=False, comment="who asks"),
    Column("admin_name", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("seats", ARRAY(SmallInteger), nullable=False),
    Column("reason", Text, nullable=False),
    Column("dispute_id", Text),
    Column("asked_at", _TIME, nullable=False, index=True),
    Column("approved_by", Text),
    Column("approved_at", _TIME),
    comment="Hidden reads that an admin asks another one to approve of.",
)

retained_games = Table(
    "retained_games",
    metadata,
    Column("game_id", Text, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("head", Text, nullable=False, comment="hash of the last event"),
    Column("status", Text, nullable=False),
    Column("ruleset", Text, nullable=False),
    Column("ruleset_version", Text, nullable=False),
    Column("visibility", Text, nullable=False),
    Column("players", ARRAY(Text), nullable=False, comment="and who opened it"),
    Column("export_sha256", Text, nullable=False, comment="of the file, in hex"),
    Column("removed_at", _TIME, nullable=False),
    comment="What is left of games that were exported, verified and removed.",
)

audit = Table(
    "audit",
    metadata,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("body", Text, nullable=False, comment="the canonical line, hash included"),
    Column("hash", Text, nullable=False),
    comment="What admins did and read. Rows are only ever added.",
)
