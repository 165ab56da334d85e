"""docs/scale.md: what was measured stands between two marks, and is written by who measured it."""

from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "scale.md"


def fill(mark: str, text: str) -> None:
    """Puts `text` between `<!-- mark -->` and `<!-- /mark -->`."""
    begin, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    before, _, rest = PAGE.read_text().partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"{PAGE} has no {begin} … {end}")
    PAGE.write_text(f"{before}{begin}\n{text}\n{end}{after}")
