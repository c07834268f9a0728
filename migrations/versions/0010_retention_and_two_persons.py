"""Games removed by age, requests for approval of hidden reads, and who came and went.

A row of a log can be taken away only where `retained_games` says that its game
was exported and verified; the service's own role can neither write that nor
delete.
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

SERVICE_ROLE = "fairdeal_service"
GRANTS = {
    "retained_games": "SELECT",
    "hidden_read_requests": "SELECT, INSERT, UPDATE, DELETE",
    "connections": "SELECT, INSERT, DELETE",
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

REFUSE = """
CREATE OR REPLACE FUNCTION refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
{declared}
BEGIN
    {unless}
    RAISE EXCEPTION '% is only ever added to (% refused)', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$$
"""

DECLARED = "DECLARE game text;"
UNLESS_RETAINED = """
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME IN ('games', 'events', 'game_secrets', 'rulings') THEN
        game := to_jsonb(OLD) ->> CASE TG_TABLE_NAME WHEN 'games' THEN 'id' ELSE 'game_id' END;
        IF EXISTS (SELECT FROM retained_games WHERE game_id = game) THEN
            RETURN OLD;
        END IF;
    END IF;
"""


def upgrade() -> None:
    """Take the schema to this revision."""
    time = sa.DateTime(timezone=True)
    op.create_table(
        "retained_games",
        sa.Column("game_id", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("head", sa.Text, nullable=False, comment="hash of the last event"),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("ruleset", sa.Text, nullable=False),
        sa.Column("ruleset_version", sa.Text, nullable=False),
        sa.Column("visibility", sa.Text, nullable=False),
        sa.Column("players", sa.ARRAY(sa.Text), nullable=False, comment="and who opened it"),
        sa.Column("export_sha256", sa.Text, nullable=False, comment="of the file, in hex"),
        sa.Column("removed_at", time, nullable=False),
        sa.PrimaryKeyConstraint("game_id", name="pk_retained_games"),
        comment="What is left of games that were exported, verified and removed.",
    )
    op.create_table(
        "hidden_read_requests",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("game_id", sa.Text, nullable=False),
        sa.Column("admin_id", sa.Text, nullable=False, comment="who asks"),
        sa.Column("admin_name", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("seats", sa.ARRAY(sa.SmallInteger), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("dispute_id", sa.Text),
        sa.Column("asked_at", time, nullable=False),
        sa.Column("approved_by", sa.Text),
        sa.Column("approved_at", time),
        sa.PrimaryKeyConstraint("id", name="pk_hidden_read_requests"),
        comment="Hidden reads that an admin asks another one to approve of.",
    )
    op.create_index("ix_hidden_read_requests_asked_at", "hidden_read_requests", ["asked_at"])
    op.create_table(
        "connections",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("game_id", sa.Text, nullable=False),
        sa.Column("at", time, nullable=False),
        sa.Column("player_id", sa.Text, nullable=False),
        sa.Column("came", sa.Boolean, nullable=False, comment="or went"),
        sa.PrimaryKeyConstraint("id", name="pk_connections"),
        comment="When players came to follow their games, and when they left; kept for a while.",
    )
    op.create_index("ix_connections_game_id", "connections", ["game_id", "at"])
    op.create_index("ix_connections_at", "connections", ["at"])
    op.execute(REFUSE.format(declared=DECLARED, unless=UNLESS_RETAINED))
    op.execute(
        "CREATE TRIGGER refuse_rewriting BEFORE UPDATE OR DELETE ON retained_games "
        "FOR EACH ROW EXECUTE FUNCTION refuse_rewriting()"
    )
    op.execute(
        "CREATE TRIGGER refuse_truncating BEFORE TRUNCATE ON retained_games "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting()"
    )
    for table, privileges in GRANTS.items():
        op.execute(GRANT_IF_THERE.format(role=SERVICE_ROLE, privileges=privileges, table=table))


def downgrade() -> None:
    """Take the schema back to the revision before."""
    op.execute(REFUSE.format(declared="", unless=""))
    for table in reversed(tuple(GRANTS)):
        op.drop_table(table)
