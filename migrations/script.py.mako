"""${message}.

A migration runs while the previous release still serves: add, never change or
take away, what that release reads or writes. An event row is never rewritten.
"""

from alembic import op
import sqlalchemy as sa
${imports if imports else ""}
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Take the schema to this revision."""
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """Take the schema back to the revision before."""
    ${downgrades if downgrades else "pass"}
