"""The record of a study: an Optuna study in memory, and the same finished trials in an SQLite file.

The file gets each trial when it is finished, in one transaction: a killed process leaves no half of a trial. It is an
ordinary study of Optuna's, which its dashboard can open.
"""

import os
import secrets
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rankwood._util import checks
from rankwood._version import __version__
from rankwood.tuning.identity import StudyIdentity

_NAME = "rankwood"
_KEY = "rankwood"  # of the attribute that describes the study
_FEWEST = 4  # complete trials, below which shares of variance mean nothing


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Optuna and its libraries from writing messages and warnings, and leave the user's settings as they were."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        optuna.logging.set_verbosity(before)


class StudyStore:
    """Where finished trials are kept; without a path, in memory only.

    Parameters
    ----------
    path : path or None
        An SQLite file, made if it doesn't exist.
    identity : StudyIdentity
        What the study is. A file of another study is refused.
    direction : {"maximize", "minimize"}
        Whether larger values are better.
    settings : dict
        What the study keeps to when it is resumed. If the file exists, the attribute `settings` has those in the file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        identity: StudyIdentity,
        direction: str,
        settings: dict[str, Any],
    ) -> None:
        import optuna

        self.path = None if path is None else _checked(path)
        self.settings = settings
        self._file: Any = None
        with quiet():
            self.study = optuna.create_study(study_name=_NAME, direction=direction)
            if self.path is None:
                return
            if not os.path.exists(self.path):
                _create(self.path, identity, settings, direction)
            self._file = _open(self.path)
            known = self._file.user_attrs.get(_KEY, {})
            identity.check(self.path, known)
            self.settings = known["settings"]
            for trial in self._file.trials:
                if trial.state.is_finished():
                    self.study.add_trial(trial)

    @property
    def finished(self) -> list[Any]:
        """The finished trials, as Optuna has them."""
        return list(self.study.get_trials(deepcopy=False))

    def keep(self) -> None:
        """Write the last trial of the study in memory to the file."""
        if self._file is None:
            return
        trial = self.study.get_trials(deepcopy=False)[-1]
        with quiet(), _plain_errors(self.path or ""):
            if len(self._file.get_trials(deepcopy=False)) != trial.number:
                raise checks.InputError(
                    f"{self.path} is being written by another process: give each study a file of its own."
                )
            self._file.add_trial(trial)


def _checked(path: Any) -> str:
    """Return a path as text, or raise if it is none."""
    try:
        text = os.fsdecode(path)
    except TypeError:
        text = ""
    if not text:
        raise checks.InputError(
            f"storage must be the name of a file, such as 'study.db', got {path!r}."
        )
    return text


def _create(path: str, identity: StudyIdentity, settings: dict[str, Any], direction: str) -> None:
    """Write the file of an empty study; it appears under its name once it is whole."""
    import optuna

    folder = Path(path).parent
    if not folder.is_dir():
        raise checks.InputError(f"{path} can't be written: there is no directory {folder}.")
    temporary = f"{path}.{secrets.token_hex(6)}.tmp"
    try:
        with _plain_errors(path):
            storage = _storage(temporary)
            study = optuna.create_study(storage=storage, study_name=_NAME, direction=direction)
            known = {"about": identity.texts, "settings": settings, "rankwood": __version__}
            study.set_user_attr(_KEY, known)
            storage.remove_session()
            storage.engine.dispose()
            os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _open(path: str) -> Any:
    """Return the study in a file, or raise if there is none."""
    import optuna
    from sqlalchemy.exc import SQLAlchemyError

    try:
        return optuna.load_study(storage=_storage(path), study_name=_NAME)
    except (KeyError, RuntimeError, SQLAlchemyError, optuna.exceptions.StorageInternalError):
        raise checks.InputError(
            f"{path} is not the file of a study; give another name as storage."
        ) from None


@contextmanager
def _plain_errors(path: str) -> Iterator[None]:
    """Raise errors of the database as an error message: that the file can't be written, and why."""
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (SQLAlchemyError, StorageInternalError) as error:
        cause = error.__cause__ if isinstance(error, StorageInternalError) else error
        reason = str(getattr(cause, "orig", None) or cause or error).splitlines()[0].rstrip(".")
        raise checks.InputError(
            f"{path} can't be written ({reason}); the trials that are in it stay there."
        ) from None


def _storage(path: str) -> Any:
    """Return Optuna's access to an SQLite file."""
    from optuna.storages import RDBStorage
    from sqlalchemy.engine import URL

    # Not as plain text, in which "?" and "%" would mean something else.
    url = URL.create("sqlite", database=os.path.abspath(path))
    return RDBStorage(url.render_as_string(hide_password=False))


def parameter_shares(study: Any, names: list[str]) -> dict[str, float]:
    """Return shares of the variance of the metric by parameter, largest first, by Optuna's fANOVA.

    The result is empty if there are few complete trials or all of them have the same value.
    """
    from optuna.importance import FanovaImportanceEvaluator, get_param_importances
    from optuna.trial import TrialState

    complete = study.get_trials(deepcopy=False, states=[TrialState.COMPLETE])
    if len(complete) < _FEWEST or len({trial.value for trial in complete}) < 2:
        return {}
    with quiet():
        found = get_param_importances(
            study, evaluator=FanovaImportanceEvaluator(seed=0), params=names
        )
    ordered = sorted(found.items(), key=lambda pair: -pair[1])
    return {name: float(share) for name, share in ordered}
