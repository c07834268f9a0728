"""Receipts beside the events that they are for, and the Merkle tree over the heads of games."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

SERVICE_ROLE = "fairdeal_service"
TABLES = ("tree_leaves", "tree_nodes", "checkpoints")

GRANT_IF_THERE = """
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN
        GRANT SELECT, INSERT ON {table} TO {role};
    END IF;
END
$$
"""


def upgrade() -> None:
    """Take the schema to this revision."""
    op.add_column(
        "events",
        sa.Column(
            "signed_with", sa.Text, comment="of the last event of an append: the signing key's id"
        ),
    )
    op.add_column(
        "events",
        sa.Column("signature", sa.Text, comment="under this event as the game's head, base64url"),
    )
    op.create_index("ix_games_moved_at", "games", ["moved_at"])
    _create_tables()
    for table in TABLES:
        op.execute(
            f"CREATE TRIGGER refuse_rewriting BEFORE UPDATE OR DELETE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION refuse_rewriting()"
        )
        op.execute(
            f"CREATE TRIGGER refuse_truncating BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting()"
        )
        op.execute(GRANT_IF_THERE.format(role=SERVICE_ROLE, table=table))


def downgrade() -> None:
    """Take the schema back to the revision before."""
    for table in reversed(TABLES):
        op.drop_table(table)
    op.drop_index("ix_games_moved_at", "games")
    op.drop_column("events", "signature")
    op.drop_column("events", "signed_with")


def _create_tables() -> None:
    op.create_table(
        "tree_leaves",
        sa.Column("index", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("game_id", sa.Text, nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("head", sa.Text, nullable=False, comment="hash of that event"),
        sa.Column("final", sa.Boolean, nullable=False, comment="whether the game had ended"),
        sa.PrimaryKeyConstraint("index", name="pk_tree_leaves"),
        sa.UniqueConstraint("game_id", "seq", name="uq_tree_leaves_game_id_seq"),
        sa.CheckConstraint("index >= 0", name=op.f("ck_tree_leaves_index")),
        comment="Heads of games, in the order in which they entered the Merkle tree.",
    )
    op.create_table(
        "tree_nodes",
        sa.Column("level", sa.SmallInteger, nullable=False, autoincrement=False),
        sa.Column("index", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("hash", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("level", "index", name="pk_tree_nodes"),
        sa.CheckConstraint("octet_length(hash) = 32", name=op.f("ck_tree_nodes_hash")),
        comment="Complete nodes of the Merkle tree (RFC 6962).",
    )
    op.create_table(
        "checkpoints",
        sa.Column("size", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("note", sa.Text, nullable=False, comment="the signed note"),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("size", name="pk_checkpoints"),
        sa.CheckConstraint("size > 0", name=op.f("ck_checkpoints_size")),
        comment="Signed roots of the Merkle tree, one a size at which it was signed.",
    )
