"""Deadlines of turns, and the times in which the service was down."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

SERVICE_ROLE = "fairdeal_service"
GRANTS = {"heartbeats": "SELECT, INSERT, UPDATE", "outages": "SELECT, INSERT"}

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
    op.add_column(
        "games",
        sa.Column("deadline_at", time, comment="when the clock plays for the seat that is to act"),
    )
    op.create_index(
        "ix_games_deadline_at",
        "games",
        ["deadline_at"],
        postgresql_where=sa.text("deadline_at IS NOT NULL"),
    )
    op.create_table(
        "heartbeats",
        sa.Column("id", sa.SmallInteger, nullable=False, autoincrement=False),
        sa.Column("at", time, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_heartbeats"),
        sa.CheckConstraint("id = 1", name=op.f("ck_heartbeats_id")),
        comment="When some worker was last alive; a gap is an outage.",
    )
    op.create_table(
        "outages",
        sa.Column("began_at", time, nullable=False),
        sa.Column("ended_at", time, nullable=False),
        sa.PrimaryKeyConstraint("began_at", name="pk_outages"),
        comment="Times in which no worker was alive: they count against no player.",
    )
    for table, privileges in GRANTS.items():
        op.execute(GRANT_IF_THERE.format(role=SERVICE_ROLE, privileges=privileges, table=table))


def downgrade() -> None:
    """Take the schema back to the revision before."""
    op.drop_table("outages")
    op.drop_table("heartbeats")
    op.drop_index("ix_games_deadline_at", "games")
    op.drop_column("games", "deadline_at")
