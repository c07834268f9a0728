"""The referee's desk: admins, disputes and rulings, refused attempts, and the audit of it all."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

SERVICE_ROLE = "fairdeal_service"
GRANTS = {
    "admin_keys": "SELECT, UPDATE",
    "disputes": "SELECT, INSERT, UPDATE",
    "dispute_messages": "SELECT, INSERT, UPDATE (body)",
    "rulings": "SELECT, INSERT",
    "attempts": "SELECT, INSERT, DELETE",
    "hidden_reads": "SELECT, INSERT, UPDATE",
    "audit": "SELECT, INSERT",
}
GUARDED = ("audit", "rulings")

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
        "admin_keys",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False, comment="SHA-256 of the token"),
        sa.Column("scopes", sa.ARRAY(sa.Text), nullable=False),
        sa.Column(
            "players", sa.ARRAY(sa.Text), nullable=False, comment="accounts of the same person"
        ),
        sa.Column("created_at", time, nullable=False),
        sa.Column("expires_at", time),
        sa.Column("last_used_at", time),
        sa.Column("revoked_at", time),
        sa.PrimaryKeyConstraint("id", name="pk_admin_keys"),
        sa.UniqueConstraint("digest", name="uq_admin_keys_digest"),
        comment="Keys of admins; made by the command, never over HTTP.",
    )
    op.create_table(
        "disputes",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("game_id", sa.Text, nullable=False),
        sa.Column("seat", sa.SmallInteger, nullable=False),
        sa.Column("player_id", sa.Text, nullable=False, comment="who filed it"),
        sa.Column("parties", sa.ARRAY(sa.Text), nullable=False, comment="who played then"),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("seqs", sa.ARRAY(sa.Integer), nullable=False),
        sa.Column("statement", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("assignee", sa.Text, comment="an admin key"),
        sa.Column("appealed_at", time),
        sa.Column("opened_at", time, nullable=False),
        sa.Column("closed_at", time),
        sa.PrimaryKeyConstraint("id", name="pk_disputes"),
        sa.CheckConstraint(
            "status IN ('open', 'under_review', 'resolved', 'withdrawn')",
            name=op.f("ck_disputes_status"),
        ),
        comment="What players complain of.",
    )
    op.create_index("ix_disputes_parties", "disputes", ["parties"], postgresql_using="gin")
    op.create_index(
        "uq_disputes_open",
        "disputes",
        ["game_id", "seat"],
        unique=True,
        postgresql_where=sa.text("status IN ('open', 'under_review')"),
    )
    op.create_table(
        "dispute_messages",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("dispute_id", sa.Text, nullable=False),
        sa.Column("author_kind", sa.Text, nullable=False),
        sa.Column("author_id", sa.Text, nullable=False),
        sa.Column("visibility", sa.Text, nullable=False, comment="parties or admins"),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("at", time, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_dispute_messages"),
        comment="What is said about a dispute.",
    )
    op.create_index("ix_dispute_messages_dispute_id", "dispute_messages", ["dispute_id", "id"])
    op.create_table(
        "rulings",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("dispute_id", sa.Text, nullable=False),
        sa.Column("game_id", sa.Text, nullable=False),
        sa.Column("admin_id", sa.Text, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("remedies", sa.Text, nullable=False, comment="JSON"),
        sa.Column("public_reason", sa.Text, nullable=False),
        sa.Column("private_note", sa.Text, nullable=False),
        sa.Column("seq", sa.Integer, nullable=False, comment="of its event"),
        sa.Column("at", time, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_rulings"),
        comment="What was decided, and why.",
    )
    op.create_index("ix_rulings_dispute_id", "rulings", ["dispute_id"])
    op.create_table(
        "attempts",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("game_id", sa.Text, nullable=False),
        sa.Column("at", time, nullable=False),
        sa.Column("version", sa.Integer, nullable=False, comment="of the game then"),
        sa.Column("player_id", sa.Text, nullable=False),
        sa.Column("key_id", sa.Text, nullable=False),
        sa.Column("seat", sa.SmallInteger),
        sa.Column("code", sa.Text, nullable=False),
        sa.Column("rule", sa.Text),
        sa.Column("moves", sa.Text, nullable=False, comment="JSON, as they were asked for"),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_attempts"),
        comment="Moves that were refused; kept for a while.",
    )
    op.create_index("ix_attempts_game_id", "attempts", ["game_id", "at"])
    op.create_index("ix_attempts_at", "attempts", ["at"])
    op.create_table(
        "hidden_reads",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("game_id", sa.Text, nullable=False),
        sa.Column("admin_id", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("seats", sa.ARRAY(sa.SmallInteger), nullable=False),
        sa.Column("at", time, nullable=False),
        sa.Column("disclosed", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.PrimaryKeyConstraint("id", name="pk_hidden_reads"),
        comment="Hands of running games that admins looked at; told to the players at the end.",
    )
    op.create_index(
        "ix_hidden_reads_game_id",
        "hidden_reads",
        ["game_id"],
        postgresql_where=sa.text("NOT disclosed"),
    )
    op.create_table(
        "audit",
        sa.Column("seq", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("body", sa.Text, nullable=False, comment="the canonical line, hash included"),
        sa.Column("hash", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_audit"),
        comment="What admins did and read. Rows are only ever added.",
    )
    op.add_column("players", sa.Column("forgotten_at", time))
    for table in GUARDED:
        op.execute(
            f"CREATE TRIGGER refuse_rewriting BEFORE UPDATE OR DELETE ON {table} "
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
    op.drop_column("players", "forgotten_at")
    for table in reversed(tuple(GRANTS)):
        op.drop_table(table)
