"""Who may look on, which game goes on from which, and who is there."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

SERVICE_ROLE = "fairdeal_service"
GRANTS = {"rematches": "SELECT, INSERT, UPDATE", "presence": "SELECT, INSERT, UPDATE, DELETE"}

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
        sa.Column(
            "spectators",
            sa.Text,
            nullable=False,
            server_default="public",
            comment="public, none or delayed",
        ),
    )
    op.create_table(
        "rematches",
        sa.Column("game_id", sa.Text, nullable=False),
        sa.Column("rematch_id", sa.Text, nullable=False, comment="the game that goes on from it"),
        sa.PrimaryKeyConstraint("game_id", name="pk_rematches"),
        comment="One rematch a game; another one once that is voided.",
    )
    op.create_table(
        "presence",
        sa.Column("game_id", sa.Text, nullable=False),
        sa.Column("player_id", sa.Text, nullable=False),
        sa.Column("process", sa.Text, nullable=False, comment="which process holds the stream"),
        sa.Column("until", time, nullable=False),
        sa.PrimaryKeyConstraint("game_id", "player_id", "process", name="pk_presence"),
        comment="Who follows a game from a seat, for a few seconds at a time; never in a log.",
    )
    op.create_index("ix_presence_until", "presence", ["until"])
    for table, privileges in GRANTS.items():
        op.execute(GRANT_IF_THERE.format(role=SERVICE_ROLE, privileges=privileges, table=table))


def downgrade() -> None:
    """Take the schema back to the revision before."""
    op.drop_table("presence")
    op.drop_table("rematches")
    op.drop_column("games", "spectators")
