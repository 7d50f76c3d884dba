"""`mt-train`: train a network on real data, resume a training run, or predict with its network.

mt-train digits                           train, and write to runs/digits
mt-train --resume runs/digits             resume after Control-C or a crash
mt-train predict runs/digits digit.png    classify an image
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import mt_tensor as mt
from mt_nn.errors import FileError, NetworkError, SettingError
from mt_nn.jobs import JOBS, job_class
from mt_nn.jobs.command.prediction import load
from mt_nn.jobs.command.runs import Run
from mt_nn.jobs.command.training import train
from mt_nn.jobs.job import Settings
from mt_nn.parallel.group import Group
from mt_nn.parallel.world import world
from mt_nn.utils.settings import choice
from mt_operators import StateDictError
from mt_tensor.errors import BackendError

SETTINGS = tuple(field.name for field in dataclasses.fields(Settings))
"""The options that are settings of a training run, which cannot change when it is resumed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or another exit code after printing an error.

    Args:
        arguments: the arguments of the command; those of the process if None.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):  # for terminals that do not support Unicode
        sys.stdout.reconfigure(errors="backslashreplace")
    given = sys.argv[1:] if arguments is None else list(arguments)
    command = _predict if given[:1] == ["predict"] else _train
    try:
        return command(given)
    except KeyboardInterrupt:
        return _print_error("interrupted.", 130)
    except MemoryError:
        return _print_error("out of memory: use a smaller --batch-size.")
    except (BackendError, NetworkError, OSError, StateDictError) as error:
        return _print_error(str(error))


def _print_error(text: str, code: int = 1) -> int:
    print(f"mt-train: {text}", file=sys.stderr)
    return code


def _train(arguments: list[str]) -> int:
    ranks = world()
    run, resume = None, False
    try:
        if not ranks.rank:  # only one rank reads the options, and prints errors in them
            options = _train_parser().parse_args(arguments)
            resume = options.resume is not None
            run = _resumed_run(options) if resume else _new_run(options)
    finally:
        run, resume = ranks.gather((run, resume), "settings")[0]
    if run is None:
        return 0
    try:
        with mt.use_backend(run.backend), _aborting_all_ranks(ranks):
            train(run, sys.stdout, resume)
    except KeyboardInterrupt:
        return 130 if ranks.rank else _print_error(f"interrupted; {_resume_hint(run)}", 130)
    except OSError as error:
        if isinstance(error, NetworkError):
            raise
        raise FileError(
            f"could not print the progress ({error.strerror or error}); {_resume_hint(run)}"
        ) from error
    return 0


@contextlib.contextmanager
def _aborting_all_ranks(ranks: Group) -> Iterator[None]:
    """Abort all ranks if one raises an error, because the others would wait for it."""
    try:
        yield
    except Exception as error:
        if ranks.size > 1:
            _print_error(str(error))
            ranks.raised(error)
        raise


def _resume_hint(run: Run) -> str:
    with contextlib.suppress(FileError):
        if run.checkpoint() and not Run.read(run.folder).finished:
            return f"resume with mt-train --resume {run.folder}."
    return "nothing was saved."


def _new_run(options: argparse.Namespace) -> Run:
    """Return a new training run.

    Raises:
        SettingError: the job or the network is unknown, or the options do not match it.
    """
    name = next(iter(JOBS)) if options.job is None else options.job
    models = job_class(name).models
    model = next(iter(models)) if options.model is None else options.model
    choice(f"--model of {name}", model, models)
    recipe = dataclasses.asdict(models[model])
    given = {each: getattr(options, each) for each in recipe}
    settings = Settings(
        model=model,
        **recipe | {each: value for each, value in given.items() if value is not None},
        seed=options.seed or 0,
        data_dir=str(options.data_dir or "data"),
        batches=options.batches,
        test=options.test is not False,
    )
    backend = mt.get_backend(options.backend).name
    folder = options.out or Path("runs", name)
    return Run(folder, name, settings, backend=backend, compile=options.compile)


def _resumed_run(options: argparse.Namespace) -> Run:
    """Return an unfinished training run, to resume it with the same settings.

    Raises:
        FileError: there is no training run in the folder.
        SettingError: the run is finished, or an option differs from its settings.
    """
    run = Run.read(options.resume)
    if run.finished:
        raise SettingError(
            f"the training run in {run.folder} is finished: use its network with mt-train predict "
            f"{run.folder}, or train again without --resume."
        )
    run.backend = options.backend or run.backend
    run.compile |= options.compile
    if options.data_dir is not None:  # files may have been moved
        run.settings = dataclasses.replace(run.settings, data_dir=str(options.data_dir))
    settings = {"job": run.name, "out": run.folder, **vars(run.settings)}
    for name in ("job", "out", *SETTINGS):
        other, saved = getattr(options, name), settings[name]
        if other is not None and str(other) != str(saved):
            raise SettingError(
                f"the training run in {run.folder} has {name.replace('_', '-')} {saved}, not "
                f"{other}: --resume cannot change it."
            )
    return run


def _predict(arguments: list[str]) -> int:
    options = _predict_parser().parse_args(arguments[1:])
    with mt.use_backend(mt.get_backend(options.backend)):
        job, network = load(options.folder)
        for text in options.inputs:
            print(job.predict(network, text))
    return 0


# --- The options ----------------------------------------------------------------------------------


def _train_parser() -> argparse.ArgumentParser:
    width = max(map(len, JOBS))
    jobs = "\n".join(f"  {name:{width}}  {job_class(name).about}" for name in JOBS)
    summary = str(__doc__).partition("\n\n")[0].partition(": ")[2].capitalize()
    parser = argparse.ArgumentParser(
        prog="mt-train",
        description=f"{summary}\n\njobs:\n{jobs}",
        epilog="Predict with a trained network: mt-train predict FOLDER INPUT (see its --help).",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("job", nargs="?", metavar="JOB", help="the job (default: digits)")
    add("--model", help="a network of the job")
    _add_backend(parser)
    text = "compile the training step: the same result in less time"
    add("--compile", action="store_true", help=text)
    add("--epochs", type=int, help="passes over the training data")
    add("--batch-size", type=int, help="samples per step")
    add("--lr", type=float, help="the maximum learning rate")
    add("--seed", type=int, help="the seed of all random numbers (default: 0)")
    add("--data-dir", type=Path, metavar="DIR", help="the folder of the datasets (default: data)")
    text = "the output folder; a finished training run in it is replaced (default: runs/JOB)"
    add("--out", type=Path, metavar="DIR", help=text)
    add("--resume", type=Path, metavar="DIR", help="resume the training run in this folder")
    add("--batches", type=int, help="end each epoch after this many batches")
    text = "do not evaluate the test set; for choosing settings with the validation set"
    add("--no-test", dest="test", action="store_const", const=False, help=text)
    return parser


def _predict_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mt-train predict", description="Predict with a trained network."
    )
    parser.add_argument("folder", type=Path, help="the folder of a training run, as runs/mnist")
    parser.add_argument("inputs", nargs="+", metavar="INPUT", help="an image, a text, or a point")
    _add_backend(parser)
    return parser


def _add_backend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--backend", help="the backend (default: MT_BACKEND, then numpy)")


if __name__ == "__main__":
    sys.exit(main())
