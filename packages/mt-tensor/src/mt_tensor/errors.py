"""The errors that mt_tensor raises."""

from mt_tensor.core.errors import (
    AmbiguousBackendError as AmbiguousBackendError,
)
from mt_tensor.core.errors import (
    BackendError as BackendError,
)
from mt_tensor.core.errors import (
    BackendLoadError as BackendLoadError,
)
from mt_tensor.core.errors import (
    BackendMismatchError as BackendMismatchError,
)
from mt_tensor.core.errors import (
    BackendUnavailableError as BackendUnavailableError,
)
from mt_tensor.core.errors import (
    CompileError as CompileError,
)
from mt_tensor.core.errors import (
    CompileWarning as CompileWarning,
)
from mt_tensor.core.errors import (
    DivisionByZeroError as DivisionByZeroError,
)
from mt_tensor.core.errors import (
    DomainError as DomainError,
)
from mt_tensor.core.errors import (
    DTypeError as DTypeError,
)
from mt_tensor.core.errors import (
    EquationError as EquationError,
)
from mt_tensor.core.errors import (
    ExchangeError as ExchangeError,
)
from mt_tensor.core.errors import (
    FusionError as FusionError,
)
from mt_tensor.core.errors import (
    IndexingError as IndexingError,
)
from mt_tensor.core.errors import (
    InPlaceError as InPlaceError,
)
from mt_tensor.core.errors import (
    LinAlgError as LinAlgError,
)
from mt_tensor.core.errors import (
    ShapeError as ShapeError,
)
from mt_tensor.core.errors import (
    TensorError as TensorError,
)
from mt_tensor.core.errors import (
    UnknownBackendError as UnknownBackendError,
)
