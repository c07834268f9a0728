"""Tickets for streams."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

SERVICE_ROLE = "fairdeal_service"

GRANT_IF_THERE = """
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN
        GRANT SELECT, INSERT, DELETE ON {table} TO {role};
    END IF;
END
$$
"""


def upgrade() -> None:
    """Take the schema to this revision."""
    op.create_table(
        "stream_tickets",
        sa.Column("digest", sa.LargeBinary, nullable=False, comment="SHA-256 of the ticket"),
        sa.Column("game_id", sa.Text, nullable=False),
        sa.Column("player_id", sa.Text, nullable=False),
        sa.Column("key_id", sa.Text, nullable=False, comment="the key that got it"),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_stream_tickets"),
        comment="Tickets for one stream each; a row is gone once it is used.",
    )
    op.create_index("ix_stream_tickets_expires_at", "stream_tickets", ["expires_at"])
    op.execute(GRANT_IF_THERE.format(role=SERVICE_ROLE, table="stream_tickets"))


def downgrade() -> None:
    """Take the schema back to the revision before."""
    op.drop_table("stream_tickets")
