"""Games, their log, their secrets, players and their keys.

A migration runs while the previous release still serves: add, never change or
take away, what that release reads or writes. An event row is never rewritten.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SERVICE_ROLE = "fairdeal_service"

GRANTS = {
    "players": "SELECT, INSERT, UPDATE",
    "api_keys": "SELECT, INSERT, UPDATE",
    "games": "SELECT, INSERT, UPDATE",
    "events": "SELECT, INSERT",
    "game_secrets": "SELECT, INSERT",
    "idempotency_keys": "SELECT, INSERT",
    "creation_keys": "SELECT, INSERT",
    "alembic_version": "SELECT",
}

REFUSE = """
CREATE FUNCTION refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is only ever added to (% refused)', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$$
"""

GUARDED = {
    "events": "UPDATE OR DELETE",
    "game_secrets": "UPDATE OR DELETE",
    "games": "DELETE",
}

GRANT_IF_THERE = """
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN
        GRANT {privileges} ON {table} TO {role};
    END IF;
END
$$
"""


def upgrade() -> None:
    """Take the schema to this revision."""
    _create_tables()
    op.execute(REFUSE)
    for table, changes in GUARDED.items():
        op.execute(
            f"CREATE TRIGGER refuse_rewriting BEFORE {changes} ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION refuse_rewriting()"
        )
        op.execute(
            f"CREATE TRIGGER refuse_truncating BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting()"
        )
    for table, privileges in GRANTS.items():
        op.execute(GRANT_IF_THERE.format(role=SERVICE_ROLE, privileges=privileges, table=table))


def downgrade() -> None:
    """Take the schema back to the revision before."""
    for table in reversed(tuple(GRANTS)):
        if table != "alembic_version":
            op.drop_table(table)
    op.execute("DROP FUNCTION refuse_rewriting()")


def _create_tables() -> None:
    time = sa.DateTime(timezone=True)
    op.create_table(
        "players",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("created_at", time, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_players"),
        sa.CheckConstraint("kind IN ('human', 'bot')", name=op.f("ck_players_kind")),
        comment="Accounts. A name stands here alone, never in a log.",
    )
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("player_id", sa.Text, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False, comment="SHA-256 of the token"),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("scopes", postgresql.ARRAY(sa.Text), nullable=False),
        sa.Column("created_at", time, nullable=False),
        sa.Column("expires_at", time),
        sa.Column("last_used_at", time),
        sa.Column("revoked_at", time),
        sa.PrimaryKeyConstraint("id", name="pk_api_keys"),
        sa.UniqueConstraint("digest", name="uq_api_keys_digest"),
        sa.ForeignKeyConstraint(["player_id"], ["players.id"], name="fk_api_keys_player_id"),
        comment="Keys of the players; the token itself is shown once and kept nowhere.",
    )
    op.create_index("ix_api_keys_player_id", "api_keys", ["player_id"])
    op.create_table(
        "games",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("head", sa.Text, nullable=False, comment="hash of the last event"),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("ruleset", sa.Text, nullable=False),
        sa.Column("ruleset_version", sa.Text, nullable=False),
        sa.Column("visibility", sa.Text, nullable=False),
        sa.Column("sandbox", sa.Boolean, nullable=False),
        sa.Column("seats", sa.SmallInteger, nullable=False),
        sa.Column("creator", sa.Text, nullable=False),
        sa.Column(
            "players",
            postgresql.ARRAY(sa.Text),
            nullable=False,
            comment="by seat; '' where no player sits",
        ),
        sa.Column("to_act", sa.Text, comment="the player whose turn it is"),
        sa.Column("bot_to_act", sa.Boolean, nullable=False),
        sa.Column("created_at", time, nullable=False),
        sa.Column("moved_at", time, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_games"),
        sa.CheckConstraint("version > 0", name=op.f("ck_games_version")),
        comment="The head row: one a game, the only row of a game that is ever updated.",
        postgresql_with={"fillfactor": "70"},
    )
    op.create_index("ix_games_players", "games", ["players"], postgresql_using="gin")
    op.create_index("ix_games_status_id", "games", ["status", "id"])
    op.create_index("ix_games_bot_to_act", "games", ["id"], postgresql_where=sa.text("bot_to_act"))
    op.create_table(
        "events",
        sa.Column("game_id", sa.Text, nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False, comment="the canonical line, hash included"),
        sa.PrimaryKeyConstraint("game_id", "seq", name="pk_events"),
        sa.CheckConstraint("seq > 0", name=op.f("ck_events_seq")),
        comment="The log. Rows are only ever added.",
    )
    op.create_index(
        "ix_events_milestones",
        "events",
        ["game_id", "seq"],
        postgresql_where=sa.text("type <> 'move'"),
    )
    op.create_table(
        "game_secrets",
        sa.Column("game_id", sa.Text, nullable=False),
        sa.Column("secret", sa.LargeBinary, nullable=False),
        sa.Column("sealed_with", sa.Text, comment="id of the key it is encrypted with, if it is"),
        sa.PrimaryKeyConstraint("game_id", name="pk_game_secrets"),
        comment="What each game is dealt from; in no log until the game has ended.",
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("game_id", sa.Text, nullable=False),
        sa.Column("player_id", sa.Text, nullable=False),
        sa.Column("route", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column(
            "fingerprint",
            sa.LargeBinary,
            nullable=False,
            comment="SHA-256 of the canonical body",
        ),
        sa.Column("first_seq", sa.Integer, nullable=False),
        sa.Column("last_seq", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("game_id", "player_id", "route", "key", name="pk_idempotency_keys"),
        comment="Which events a request wrote, so that its retry is answered alike.",
    )
    op.create_table(
        "creation_keys",
        sa.Column("player_id", sa.Text, nullable=False),
        sa.Column("route", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column(
            "fingerprint",
            sa.LargeBinary,
            nullable=False,
            comment="SHA-256 of the canonical body",
        ),
        sa.Column("resource_id", sa.Text, nullable=False),
        sa.Column(
            "version",
            sa.BigInteger,
            nullable=False,
            comment="of the game that was made; 0 for a key",
        ),
        sa.PrimaryKeyConstraint("player_id", "route", "key", name="pk_creation_keys"),
        comment="What a request made, where there was no game yet to file its key under.",
    )
