"""Webhooks, and what is to be delivered to them."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

SERVICE_ROLE = "fairdeal_service"
TABLES = ("webhooks", "webhook_deliveries")

GRANT_IF_THERE = """
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN
        GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {role};
    END IF;
END
$$
"""


def upgrade() -> None:
    """Take the schema to this revision."""
    time = sa.DateTime(timezone=True)
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("player_id", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("types", sa.ARRAY(sa.Text), nullable=False, comment="none for every type"),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("secret", sa.LargeBinary, nullable=False),
        sa.Column("sealed_with", sa.Text, comment="id of the key it is encrypted with, if it is"),
        sa.Column("old_secret", sa.LargeBinary, comment="signs as well, for a while"),
        sa.Column("old_sealed_with", sa.Text),
        sa.Column("old_until", time),
        sa.Column("created_at", time, nullable=False),
        sa.Column("failing_since", time),
        sa.Column("disabled_at", time),
        sa.Column("disabled_reason", sa.Text, comment="asked, failing or gone"),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
        comment="Where players want to be told what happens in their games.",
    )
    op.create_index("ix_webhooks_player_id", "webhooks", ["player_id"])
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("webhook_id", sa.Text, nullable=False),
        sa.Column("game_id", sa.Text, nullable=False, comment="what is of one game is in order"),
        sa.Column("number", sa.Integer, nullable=False, comment="of the notice"),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("payload", sa.Text, nullable=False, comment="the body, to the byte"),
        sa.Column("created_at", time, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("next_at", time, comment="null: waits for an earlier one of its game"),
        sa.Column("last_at", time),
        sa.Column("last_status", sa.Integer),
        sa.Column("last_error", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_deliveries"),
        sa.ForeignKeyConstraint(
            ["webhook_id"],
            ["webhooks.id"],
            name="fk_webhook_deliveries_webhook_id",
            ondelete="CASCADE",
        ),
        sa.CheckConstraint(
            "status IN ('pending', 'delivered', 'failed')",
            name=op.f("ck_webhook_deliveries_status"),
        ),
        comment="The outbox: written with the notices, sent at least once.",
    )
    pending = sa.text("status = 'pending'")
    op.create_index(
        "ix_webhook_deliveries_due",
        "webhook_deliveries",
        ["webhook_id", "next_at"],
        postgresql_where=sa.text("status = 'pending' AND next_at IS NOT NULL"),
    )
    op.create_index(
        "ix_webhook_deliveries_pending",
        "webhook_deliveries",
        ["webhook_id", "game_id", "number"],
        postgresql_where=pending,
    )
    op.create_index("ix_webhook_deliveries_webhook_id", "webhook_deliveries", ["webhook_id", "id"])
    op.create_index("ix_webhook_deliveries_created_at", "webhook_deliveries", ["created_at"])
    for table in TABLES:
        op.execute(GRANT_IF_THERE.format(role=SERVICE_ROLE, table=table))


def downgrade() -> None:
    """Take the schema back to the revision before."""
    op.drop_table("webhook_deliveries")
    op.drop_table("webhooks")
