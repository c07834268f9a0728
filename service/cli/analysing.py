"""`fairdeal stats`: what all finished games say of the shuffle."""

import json
from pathlib import Path
from typing import Any

import click

from service.app import make_services
from service.cli.saying import said_in_a_line, the_settings, with_database
from service.play.analysing import statistics, statistics_text

BAR = 24


@click.command("stats")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option(
    "--svg", type=click.Path(dir_okay=False, path_type=Path), help="Draw who went out to FILE."
)
def stats_command(*, as_json: bool, svg: Path | None) -> None:
    """Whether shuffles are as good as they should be, and who goes out; over all finished games."""
    with said_in_a_line(), with_database(the_settings()) as settings:
        found = statistics(make_services(settings))
    if svg is not None:
        svg.write_text(drawn(found), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(found, indent=2))
    else:
        click.echo("\n".join(statistics_text(found)))


def drawn(found: Any) -> str:  # noqa: ANN401  JSON
    """A bar for each seat of each kind of table: how many rounds it went out of a hundred."""
    bars: list[str] = []
    y = BAR
    for table in found["tables"]:
        title = f"{table['ruleset']} {table['version']}, {table['seats']} seats"
        bars.append(f'<text x="8" y="{y}" font-weight="bold">{title}</text>')
        y += BAR
        total = sum(table["went_out"]["counts"].values()) or 1
        for seat, count in table["went_out"]["counts"].items():
            share = 100 * count / total
            bars.append(
                f'<text x="8" y="{y}">seat {seat}</text>'
                f'<rect x="80" y="{y - 13}" width="{share * 4:.1f}" height="16" fill="#3a7"/>'
                f'<text x="{88 + share * 4:.1f}" y="{y}">{share:.1f} %</text>'
            )
            y += BAR
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 {y}" width="600" height="{y}" '
        f'font-family="sans-serif" font-size="14">{"".join(bars)}</svg>\n'
    )
