"""Messages that workers print though nobody can do anything about them."""

import ctypes
import logging
import sys
import threading

from xgboost.core import _LIB

from rankwood.distributed.errors import PeerFailed


class _OfPeers(logging.Filter):
    """Drops the traceback of a worker that stopped because another one failed: `fit` shows the error of the other."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is to be shown."""
        values = record.args if isinstance(record.args, tuple) else ()
        return not any(str(value).startswith(f"{PeerFailed.__name__}(") for value in values)


_OF_PEERS = _OfPeers()


def _show(message: bytes) -> None:
    """Print what XGBoost prints in a thread of its own choice, but for the rank of a worker."""
    if b" got rank " not in message:
        print(message.decode(errors="replace"), file=sys.stderr)


#: XGBoost keeps the address only.
_SHOW = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(_show)


def keep_quiet() -> None:
    """Leave out such messages in the process, or the thread, of a worker."""
    logging.getLogger("distributed.worker").addFilter(_OF_PEERS)
    # XGBoost prints ranks at any verbosity. Its printer belongs to the thread; the main thread has one of Python's.
    if threading.current_thread() is not threading.main_thread():
        _LIB.XGBRegisterLogCallback(_SHOW)
