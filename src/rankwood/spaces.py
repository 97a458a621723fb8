"""Search spaces for `rankwood.tune`: defaults by engine, those of papers by name, and what makes one's own."""

from rankwood.tuning.spaces.default_spaces import default
from rankwood.tuning.spaces.dimensions import Choice, Float, Integer
from rankwood.tuning.spaces.named_spaces import named, names, read
from rankwood.tuning.spaces.space import Space

__all__ = ["Choice", "Float", "Integer", "Space", "default", "named", "names", "read"]
