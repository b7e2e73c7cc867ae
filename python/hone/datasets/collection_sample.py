"""A part of the collection's sources, drawn at random: the same for the same seed, anywhere."""

import hashlib
from collections.abc import Iterable, Mapping

from .collection_source import UNSEEN, Source
from .programs import DatasetError

SIDES = ("train", "validation", "test", "unseen")


def side_of(source: Source) -> str:
    """`unseen`, or the split of `seen` that the source is in."""
    return "unseen" if source.family in UNSEEN else source.split


def parse_counts(text: str) -> dict[str, int]:
    """Of "train=70,test=70".

    Raises:
      DatasetError: a side that there is not, or no number.
    """
    counts = {}
    for part in text.split(","):
        side, _, number = part.partition("=")
        if side not in SIDES or not number.isdecimal():
            raise DatasetError(
                f"sample '{text}': give numbers of sources, of {', '.join(SIDES)}, "
                "such as train=70,test=70,unseen=45"
            )
        counts[side] = int(number)
    return counts


def draw(
    sources: Iterable[Source],
    counts: Mapping[str, int] | None = None,
    seed: int = 0,
    without: Iterable[str] = (),
) -> list[Source]:
    """In the order that they come in.

    Who is drawn hangs on the seed and on its own name: with more of one side, or with other families
    left out, those who were there stay.

    Args:
      sources: of the collection.
      counts: the most sources of each side; of a side that is not there none. None: all of all.
      seed: of the draw.
      without: families left out; one that ends in `*` is all that begin so.

    Raises:
      DatasetError: a family of `without` that there is not.
    """
    sources = list(sources)
    left_out = set()
    for family in without:
        stem = family.removesuffix("*")
        named = {
            s.family for s in sources if s.family == family or (stem != family and s.family.startswith(stem))
        }
        if not named:
            raise DatasetError(f"family '{family}' is not known; --list prints the families")
        left_out |= named
    sources = [source for source in sources if source.family not in left_out]
    if counts is None:
        return sources

    def lot(source):
        return hashlib.sha256(f"{seed}/{source.family}/{source.name}".encode()).digest()

    drawn = set()
    for side, count in counts.items():
        of_side = sorted((s for s in sources if side_of(s) == side), key=lot)
        drawn |= {(s.family, s.name) for s in of_side[:count]}
    return [source for source in sources if (source.family, source.name) in drawn]
