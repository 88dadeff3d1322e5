"""Record which places each situation hears: ``python -m tests.advice.record``."""

import json
import os
import shutil
import tempfile
from pathlib import Path

from tests.advice.base import make
from tests.advice.follow import HEARD, Situation, heard, prepare, says
from tests.advice.sites import all_sites
from tests.advice.situations import SITUATIONS


def places_of(situation: Situation, base: Path) -> list[str]:
    """Return the keys of the places that a situation hears."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder, "work")
        shutil.copytree(base, work)
        os.chdir(work)
        prepare(situation)
        said = heard(situation.before, situation.stdin)
        os.chdir(folder)
    return sorted({site.key for site in all_sites() if says(site, said)})


def main() -> None:
    os.environ["COLUMNS"] = "400"
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder))
        found = {each.id: places_of(each, Path(folder)) for each in SITUATIONS}
        os.chdir("/")
    HEARD.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
