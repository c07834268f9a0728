"""The schema's history (Alembic). Expand, deploy, contract; an event row is never rewritten."""
