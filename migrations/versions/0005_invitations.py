"""Invitations to private tables."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

SERVICE_ROLE = "fairdeal_service"

GRANT_IF_THERE = """
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN
        GRANT SELECT, INSERT, UPDATE ON {table} TO {role};
    END IF;
END
$$
"""


def upgrade() -> None:
    """Take the schema to this revision."""
    time = sa.DateTime(timezone=True)
    op.create_table(
        "invitations",
        sa.Column("digest", sa.LargeBinary, nullable=False, comment="SHA-256 of the invitation"),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("game_id", sa.Text, nullable=False),
        sa.Column("player_id", sa.Text, nullable=False, comment="who invites"),
        sa.Column("expires_at", time, nullable=False),
        sa.Column("revoked_at", time),
        sa.PrimaryKeyConstraint("digest", name="pk_invitations"),
        sa.UniqueConstraint("id", name="uq_invitations_id"),
        comment="Who has one may sit down at a private table.",
    )
    op.execute(GRANT_IF_THERE.format(role=SERVICE_ROLE, table="invitations"))


def downgrade() -> None:
    """Take the schema back to the revision before."""
    op.drop_table("invitations")
