"""A Gymnasium space for arrays whose first dimension varies."""

import gymnasium
import numpy as np


class Ragged(gymnasium.Space):
    """Arrays of shape [any number, *row_shape] with every element in [low, high].

    Gymnasium's own `Sequence` holds such values too, but looks at them row by row in Python, and
    its rows are not plain numbers.
    """

    def __init__(self, low, high, row_shape=(), dtype=np.float32, seed=None):
        super().__init__(shape=None, dtype=dtype, seed=seed)
        self.low, self.high, self.row_shape = low, high, tuple(row_shape)

    @property
    def is_np_flattenable(self):
        return False

    def sample(self, mask=None, probability=None):
        """An array of 0 to 9 rows, uniform in [low, min(high, low + 100)]."""
        if mask is not None or probability is not None:
            raise ValueError("a Ragged space has no mask")
        shape = (int(self.np_random.integers(10)), *self.row_shape)
        high = min(self.high, self.low + 100)
        if np.issubdtype(self.dtype, np.integer):
            return self.np_random.integers(self.low, high, shape, dtype=self.dtype, endpoint=True)
        return self.np_random.uniform(self.low, high, shape).astype(self.dtype)

    def contains(self, x):
        return (isinstance(x, np.ndarray) and x.dtype == self.dtype
                and x.ndim == 1 + len(self.row_shape) and x.shape[1:] == self.row_shape
                and (x.size == 0 or bool(np.all(x >= self.low) and np.all(x <= self.high))))

    def __eq__(self, other):
        return (isinstance(other, Ragged) and self.dtype == other.dtype
                and (self.low, self.high, self.row_shape)
                == (other.low, other.high, other.row_shape))

    def __repr__(self):
        return f"Ragged({self.low}, {self.high}, {self.row_shape}, {self.dtype})"
