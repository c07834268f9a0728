"""Notices for players: what they are told of their games, numbered for each of them."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

SERVICE_ROLE = "fairdeal_service"
GRANTS = {
    "mailboxes": "SELECT, INSERT, UPDATE",
    "notices": "SELECT, INSERT, DELETE",
    "told": "SELECT, INSERT, UPDATE",
    "dispatched": "SELECT, INSERT, UPDATE",
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
    time = sa.DateTime(timezone=True)
    op.create_table(
        "mailboxes",
        sa.Column("player_id", sa.Text, nullable=False),
        sa.Column("newest", sa.Integer, nullable=False, comment="number of the newest notice"),
        sa.PrimaryKeyConstraint("player_id", name="pk_mailboxes"),
        comment="How many notices a player ever got.",
    )
    op.create_table(
        "notices",
        sa.Column("player_id", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False, comment="1, 2, 3 … for each player"),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("game_id", sa.Text, nullable=False),
        sa.Column("data", sa.Text, nullable=False, comment="JSON; no card"),
        sa.Column("at", time, nullable=False),
        sa.PrimaryKeyConstraint("player_id", "number", name="pk_notices"),
        comment="What players are told of their games; written by one dispatcher at a time.",
    )
    op.create_index("ix_notices_at", "notices", ["at"])
    op.create_table(
        "told",
        sa.Column("game_id", sa.Text, nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("game_id", name="pk_told"),
        comment="Up to which event of a game its players were told.",
    )
    op.execute("INSERT INTO told (game_id, seq) SELECT id, version FROM games")
    op.create_table(
        "dispatched",
        sa.Column("id", sa.SmallInteger, nullable=False, autoincrement=False),
        sa.Column("at", time, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_dispatched"),
        sa.CheckConstraint("id = 1", name=op.f("ck_dispatched_id")),
        comment="When a dispatcher last saw all that there was to tell.",
    )
    op.add_column(
        "invitations",
        sa.Column("invitee_id", sa.Text, comment="who is invited by name, if somebody is"),
    )
    op.add_column(
        "invitations",
        sa.Column("told", sa.Boolean, nullable=False, server_default=sa.true()),
    )
    op.create_index(
        "ix_invitations_told", "invitations", ["id"], postgresql_where=sa.text("NOT told")
    )
    op.create_index("ix_invitations_invitee_id", "invitations", ["invitee_id"])
    for table, privileges in GRANTS.items():
        op.execute(GRANT_IF_THERE.format(role=SERVICE_ROLE, privileges=privileges, table=table))


def downgrade() -> None:
    """Take the schema back to the revision before."""
    op.drop_index("ix_invitations_invitee_id", "invitations")
    op.drop_index("ix_invitations_told", "invitations")
    op.drop_column("invitations", "told")
    op.drop_column("invitations", "invitee_id")
    op.drop_table("dispatched")
    op.drop_table("told")
    op.drop_table("notices")
    op.drop_table("mailboxes")
