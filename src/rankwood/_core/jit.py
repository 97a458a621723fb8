"""Former names of what is in compile, parts, verbs, records, numeric and intrinsics."""

from rankwood._core.compile import JIT as JIT
from rankwood._core.compile import inline as inline
from rankwood._core.compile import inner as inner
from rankwood._core.compile import jit as jit
from rankwood._core.compile import without_fastmath as exactly  # noqa: F401
from rankwood._core.intrinsics import add_pair as add2  # noqa: F401
from rankwood._core.intrinsics import prefetch as fetch  # noqa: F401
from rankwood._core.numeric import as_type_of as like  # noqa: F401
from rankwood._core.parts import check_labels as check_labels
from rankwood._core.parts import is_part as is_part
from rankwood._core.parts import part as part
