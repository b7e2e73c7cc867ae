"""What a collection's programs are made of, and which split that puts them into."""

import dataclasses
import hashlib
from collections.abc import Callable

# Families that no program of FOLDER/seen is of.
UNSEEN = frozenset(
    {
        # Models: encoders with decoders, relative positions, grouped convolutions.
        "t5", "bart", "marian", "pegasus", "blenderbot", "beit", "regnet",
        # Functions and algorithms of some fields.
        "jax.scipy.signal", "jax.image", "jax.scipy.fft", "jax.numpy.fft",
        "physics", "sim", "graph", "finance",
    }
)  # fmt: skip

SPLITS = (("train", 0.72), ("validation", 0.1), ("test", 0.18))  # of FOLDER/seen's sources


@dataclasses.dataclass(frozen=True)
class Source:
    """What programs are made of.

    Attributes:
      family: see UNSEEN.
      unit: what goes into one split with it: a function, or a model, in all its ways.
      name: different from all others' of the family.
      phase: `fwd`, `train` or `other`.
      lower: () -> HLO text.
    """

    family: str
    unit: str
    name: str
    phase: str
    lower: Callable[[], str]

    @property
    def split(self) -> str:
        """Hangs on family and unit alone."""
        if self.family in UNSEEN:
            return "test"
        digest = hashlib.sha256(f"{self.family}/{self.unit}".encode()).digest()
        at = int.from_bytes(digest[:8], "big") / 2**64
        for split, share in SPLITS:
            if at < share:
                return split
            at -= share
        return SPLITS[-1][0]

    def seed(self, what: object) -> int:
        text = f"{self.family}/{self.name}/{what}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")
