"""`mt-train`: train a network on real data, resume a training, or predict with its network.

mt-train digits                           train, and write to runs/digits
mt-train --resume runs/digits             resume after Control-C or a crash
mt-train predict runs/digits digit.png    classify an image
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import io
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import mt_tensor as mt
from mt_nn.core.settings import integer
from mt_nn.errors import FileError, NetworkError, SettingError
from mt_nn.jobs import JOBS, job_class
from mt_nn.jobs.command.prediction import predict
from mt_nn.jobs.command.runs import Run
from mt_nn.jobs.command.threads import use_threads
from mt_nn.jobs.command.training import train
from mt_nn.jobs.job import Settings
from mt_nn.parallel.group import Group
from mt_nn.parallel.world import world
from mt_nn.train.callbacks import TERMINATING
from mt_nn.utils.settings import choice
from mt_operators import StateDictError
from mt_tensor.errors import BackendError

SETTINGS = tuple(field.name for field in dataclasses.fields(Settings))
"""The options that are settings of a training, and stay what they are when it is resumed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or another exit code after printing what was wrong."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # not every terminal has every letter
        sys.stdout.reconfigure(errors="backslashreplace")
    given = sys.argv[1:] if arguments is None else list(arguments)
    command = _ask if given[:1] == ["predict"] else _learn
    try:
        with _ended_as_by_control_c():
            return command(given)
    except KeyboardInterrupt:
        return _complain("interrupted.", 130)
    except MemoryError:
        return _complain("there is too little memory: take a smaller --batch-size.")
    except (BackendError, NetworkError, OSError, StateDictError) as error:
        return _complain(str(error))


def _complain(text: str, code: int = 1) -> int:
    print(f"mt-train: {text}", file=sys.stderr)
    return code


@contextlib.contextmanager
def _ended_as_by_control_c() -> Iterator[None]:
    """Take other signals that end a process for Control-C in this block, unless ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    others = [each for each in TERMINATING if signal.getsignal(each) is signal.SIG_DFL]
    for each in others:
        signal.signal(each, signal.default_int_handler)
    try:
        yield
    finally:
        for each in others:
            signal.signal(each, signal.SIG_DFL)


def _learn(arguments: list[str]) -> int:
    ranks = world()
    with _told_once(ranks):
        options = _learning().parse_args(arguments)
        use_threads(options.threads)
        run = _begun(options) if options.resume is None else _resumed(options)
    try:
        with mt.use_backend(run.backend), _ending_together(ranks):
            train(run, sys.stdout, resume=options.resume is not None)
    except KeyboardInterrupt:
        return 130 if ranks.rank else _complain(f"interrupted; {_how_to_go_on(run)}", 130)
    except OSError as error:
        if isinstance(error, NetworkError):
            raise
        raise FileError(
            f"what happens cannot be told ({error.strerror or error}); {_how_to_go_on(run)}"
        ) from error
    return 0


@contextlib.contextmanager
def _told_once(ranks: Group) -> Iterator[None]:
    """Let whatever ends one rank in this block end all of them, and rank 0 tell it."""
    if ranks.size == 1:
        yield
        return
    wrong: Exception | SystemExit | None = None
    with contextlib.ExitStack() as quiet:
        if ranks.rank:
            quiet.enter_context(contextlib.redirect_stdout(io.StringIO()))
            quiet.enter_context(contextlib.redirect_stderr(io.StringIO()))
        try:
            yield
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is raised again
            wrong = error
    told = ranks.gather(None if wrong is None else str(wrong), "settings")
    failed = [rank for rank, text in enumerate(told) if text is not None]
    if not failed:
        return
    if ranks.rank:
        raise SystemExit(wrong.code if isinstance(wrong, SystemExit) else 1)
    raise wrong or SettingError(f"rank {failed[0]}: {told[failed[0]]}")


@contextlib.contextmanager
def _ending_together(ranks: Group) -> Iterator[None]:
    """Let an error of one rank end all of them, which would wait for it."""
    try:
        yield
    except Exception as error:
        if ranks.size > 1:
            _complain(str(error))
            ranks.raised(error)
        raise


def _how_to_go_on(run: Run) -> str:
    with contextlib.suppress(FileError):
        if run.has_checkpoint() and not Run.read(run.folder).finished:
            return f"mt-train --resume {run.folder} goes on."
    return "nothing was saved."


def _begun(options: argparse.Namespace) -> Run:
    """Return a new training.

    Raises:
        SettingError: there is no such job or network, or the options do not fit it.
    """
    name = next(iter(JOBS)) if options.job is None else options.job
    models = job_class(name).models
    model = next(iter(models)) if options.model is None else options.model
    choice(f"--model of {name}", model, models)
    recipe = models[model]
    for option in () if recipe.epochs else ("epochs", "batch_size", "lr"):
        if getattr(options, option) is not None:
            raise SettingError(
                f"--model {model} of {name} has nothing to learn: leave out "
                f"--{option.replace('_', '-')}."
            )
    if options.epochs is not None:
        integer("--epochs", options.epochs, 1)
    chosen = {
        name: default if getattr(options, name) is None else getattr(options, name)
        for name, default in dataclasses.asdict(recipe).items()
    }
    settings = Settings(
        model=model,
        **chosen,
        seed=options.seed or 0,
        data_dir=str(options.data_dir or "data"),
        batches=options.batches,
        test=options.test is not False,
    )
    backend = mt.get_backend(options.backend).name
    folder = options.out or Path("runs", name)
    return Run(folder, name, settings, backend=backend, compile=options.compile)


def _resumed(options: argparse.Namespace) -> Run:
    """Return a training that was begun, to go on with it as it was.

    Raises:
        FileError: there is none, or it has been finished.
        SettingError: something else was said about it than when it was begun.
    """
    run = Run.read(options.resume)
    run.check_unfinished()
    run.backend = options.backend or run.backend
    run.compile = options.compile
    if options.data_dir is not None:  # files may have been moved
        run.settings = dataclasses.replace(run.settings, data_dir=str(options.data_dir))
    said = {"job": run.name, "out": run.folder, **vars(run.settings)}
    for name in ("job", "out", *SETTINGS):
        other, own = getattr(options, name), said[name]
        if other is not None and str(other) != str(own):
            raise SettingError(
                f"the training in {run.folder} has {name.replace('_', '-')} {own}, not {other}: "
                "--resume goes on with it as it was begun."
            )
    return run


def _ask(arguments: list[str]) -> int:
    options = _asking().parse_args(arguments[1:])
    use_threads(options.threads)
    with mt.use_backend(mt.get_backend(options.backend)):
        for answer in predict(options.folder, options.inputs):
            print(answer)
    return 0


# --- The options ----------------------------------------------------------------------------------


def _learning() -> argparse.ArgumentParser:
    width = max(map(len, JOBS))
    listed = "\n".join(f"  {name:{width}}  {job_class(name).about}" for name in JOBS)
    parser = argparse.ArgumentParser(
        prog="mt-train",
        description=f"{_sentence()}\n\njobs:\n{listed}",
        epilog="Predict with a trained network: mt-train predict FOLDER INPUT (see its --help).",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("job", nargs="?", metavar="JOB", help="the job (default: digits)")
    add("--model", help="a network of the job")
    _add_computing(parser)
    told = "compile the training step: the same result in less time"
    add("--compile", action="store_true", help=told)
    add("--epochs", type=int, help="passes over the training data")
    add("--batch-size", type=int, help="samples per step")
    add("--lr", type=float, help="the maximum learning rate")
    add("--seed", type=int, help="the seed of all random numbers (default: 0)")
    add("--data-dir", type=Path, metavar="DIR", help="the folder of the datasets (default: data)")
    told = "the output folder; a finished training in it is moved to DIR/earlier "
    add("--out", type=Path, metavar="DIR", help=f"{told}(default: runs/JOB)")
    told = "resume the training in this folder"
    add("--resume", type=Path, metavar="DIR", help=told)
    add("--batches", type=int, help="end each epoch after this many batches")
    told = "do not evaluate the test set, to choose settings by the validation"
    add("--no-test", dest="test", action="store_const", const=False, help=told)
    return parser


def _asking() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mt-train predict", description="Predict with a trained network."
    )
    parser.add_argument("folder", type=Path, help="the folder of a training, such as runs/mnist")
    parser.add_argument("inputs", nargs="+", metavar="INPUT", help="an image, a text, or a point")
    _add_computing(parser)
    return parser


def _add_computing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--backend", help="the backend (default: MT_BACKEND, then numpy)")
    parser.add_argument("--threads", type=int, help="the number of threads")


def _sentence() -> str:
    return str(__doc__).partition("\n\n")[0].partition(": ")[2].capitalize()


if __name__ == "__main__":
    sys.exit(main())
