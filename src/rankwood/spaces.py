"""Search spaces for `rankwood.tune`: defaults by engine, those of papers by name, and what makes one's own."""

from rankwood.tuning.dimensions import Choice, Float, Integer
from rankwood.tuning.named_spaces import default, named, names, read
from rankwood.tuning.space import Space

__all__ = ["Choice", "Float", "Integer", "Space", "default", "named", "names", "read"]
