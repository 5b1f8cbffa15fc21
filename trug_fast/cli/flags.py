"""The flags of all commands, written by hand: help imports nothing that computes, and is quick.

A command takes what people set every day; all else is in the words of Python, by ``--config``.
That defaults and words are the library's is tested in tests/cli/test_flags.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

NAMED = {"rbm": ("digits", "mnist"), "trbm": ("balls",), "tggm": ("yacht",)}
READING = ("key", "drop", "skip_missing", "size", "alphabet", "binarize", "length", "target")
VISIBLE = ("bernoulli", "gaussian", "spin", "categorical", "truncated", "relu")


def word(text: str) -> str:
    """Read a word or the name of a file."""
    if not text:
        raise argparse.ArgumentTypeError("must not be empty")
    return text


def at_least(least: int) -> Callable[[str], int]:
    """Return what reads a whole number that is not below another."""

    def read(text: str) -> int:
        if not text.lstrip("-").isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"must be a whole number from {least} on, got {text}")
        return int(text)

    return read


def values(text: str) -> Any:
    """Read numbers and words with commas between them, one by itself: 0.1,0.01,cosine."""
    found: list[Any] = []
    for part in word(text).split(","):
        for kind in (int, float, str):
            try:
                found.append(kind(part))
                break
            except ValueError:
                continue
    return found[0] if len(found) == 1 else tuple(found)


def refuse(arguments: argparse.Namespace, names: Iterable[str], why: str) -> None:
    """Refuse flags that are given and mean nothing."""
    for name in names:
        if getattr(arguments, name, None) is not None:
            flag = "Y" if name == "y" else f"--{name.replace('_', '-')}"
            raise ValueError(f"{flag} {why}")


COUNT = at_least(1)
# How a flag is read (a function; one of some words; True: it stands alone), its value, its help.
FLAGS: dict[str, tuple[Any, str, str]] = {
    "key": (word, "NAME", "which array of a .npz or .h5 file"),
    "drop": (word, "A,B", "columns to leave out, by name or by index from 0"),
    "skip-missing": (True, "", "leave out rows that lack a value"),
    "size": (values, "N|H,W", "scale the images of a folder"),
    "sample:size": (values, "N|H,W", "of the model's images, if they are no squares"),
    "alphabet": (word, "NAME", "of a .fasta: protein, rna, dna, or the letters"),
    "length": (at_least(2), "N", "cut sequences into ones of so many frames"),
    "binarize": (("threshold", "sample"), "", "how grey levels become 0 and 1"),
    "target": (word, "COLUMN", "what is predicted, by name or by index from 0"),
    "sample-weight": (word, "FILE", "what each row, or sequence, counts for"),
    "validation": (values, "SHARE|FILE", "held back, and scored while it trains"),
    "tggm:validation": (float, "SHARE", "held back, to choose when to stop"),
    "monitor": (word, "SCORE", "what is scored while it trains"),
    "n-hidden": (COUNT, "N", "hidden units"),
    "n-lags": (COUNT, "N", "frames that each frame depends on"),
    "n-models": (COUNT, "N", "train an ensemble of so many"),
    "truncation": (values, "NAME|A,B", "sigmoid, relu, tanh, c-learn, s-learn, or as -1,1"),
    "hidden": (("trug", "bernoulli"), "", "hidden units; bernoulli is the ordinary RBM"),
    "visible": (VISIBLE, "", "what the columns hold"),
    "trbm:visible": (VISIBLE[:2], "", "what the columns hold"),
    "objective": (("ml", "moments", "bp"), "", "what is ascended"),
    "epochs": (COUNT, "N", "passes over the data"),
    "learning-rate": (values, "A[,B[,FORM]]", "from A to B, FORM linear or cosine"),
    "batch-size": (COUNT, "N", "rows, or sequences, of an update"),
    "optimizer": (("sgd", "rmsprop", "adam"), "", "the steps"),
    "sampler": (("pcd", "cd", "pt", "ptt"), "", "the chains"),
    "n-gibbs": (values, "A[,B]", "Gibbs sweeps of an update, from A to B"),
    "sample:n-gibbs": (COUNT, "N", "Gibbs sweeps (default 1000, 50 of each frame)"),
    "start": (word, "MODEL", "go on from this model"),
    "sample:start": (word, "DATA", "begin at these rows, go on with the last sequence"),
    "out": (word, "FILE.npz", "where the model goes"),
    "sample:out": (word, "FILE", ".png, .npz, .npy, .csv; videos .gif, letters .fasta"),
    "predict:out": (word, "FILE.csv", "the table that is written"),
    "checkpoint": (word, "FILE", "keeps the run; the same command goes on with it"),
    "seed": (at_least(0), "N", "of all random numbers"),
    "threads": (COUNT, "N", "threads"),
    "quiet": (True, "", "no bars, no notices"),
    "evaluate": (True, "", "estimate the log-likelihood in the end"),
    "config": (word, "FILE", "options in the words of Python, .json or .toml"),
    "print-config": (True, "", "print such a file, with all defaults, and end"),
    "n-chains": (at_least(2), "N", "annealed chains"),
    "n-temperatures": (COUNT, "N", "steps of the annealing"),
    "path": (("auto", "quad", "quad2", "paper"), "", "of the annealing"),
    "direction": (("forward", "reverse", "both"), "", "of the annealing"),
    "level": (float, "P", "of a regression's intervals"),
    "quantiles": (values, "P,P", "a column for each"),
    "n": (COUNT, "N", "rows or frames to draw"),
    "data-dir": (word, "DIR", "where to put them"),
    "mirror": (word, "URL", "a server that has them as URL/FOLDER/FILE"),
}
PLACES = {
    "data": "a file (.npy, .npz, .h5, .csv, .fasta) or a folder",
    "y": "a file of targets, if they are no column",
    "model": "a file that training wrote",
    "figure": "family (of units with four intervals), units (of MODEL.npz), or history (of a "
    "training, MODEL-history.npz)",
    "files": "the model or history, and the picture",
    "action": "list or fetch",
    "names": "sets to fetch",
    "models": "rbm, trbm, tggm, truncnorm, truncmvn (default all)",
}
CHOICES = {"figure": ("family", "units", "history"), "action": ("list", "fetch")}
SHOWN = {ord(mark): None for mark in "?*+"}
READS, RUNS = "key drop skip-missing", "seed=0 threads=all quiet"
SAVES = f"start out=DATA-MODEL.npz checkpoint {RUNS} config print-config"
# For each command its help, the function that runs it, its places (? may be lacking, * any number,
# + one or more), and its flags with their defaults.
COMMANDS = {
    "train rbm": (
        "train a restricted Boltzmann machine",
        *("train.train", "?data"),
        f"{READS} size alphabet=protein binarize sample-weight validation n-hidden=100 truncation "
        "visible=bernoulli hidden=trug epochs=30 learning-rate batch-size sampler=pcd n-gibbs=1 "
        f"monitor=auto evaluate {SAVES}",
    ),
    "train trbm": (
        "train a temporal restricted Boltzmann machine",
        *("train.train", "?data"),
        f"{READS} length sample-weight validation n-hidden=400 n-lags=1 truncation "
        f"visible=bernoulli hidden=trug epochs=30 learning-rate batch-size=4 n-gibbs=3,25 {SAVES}",
    ),
    "train tggm": (
        "train a regression with standard deviations",
        *("train.train", "?data ?y"),
        f"{READS} target sample-weight validation=0.1 n-hidden=50 n-models=1 truncation "
        f"objective=ml epochs=300 learning-rate batch-size=50 optimizer=adam monitor=auto {SAVES}",
    ),
    "evaluate": (
        "how good a model is on data",
        *("evaluate.evaluate", "model data ?y"),
        f"{READS} size binarize length target n-chains=100 n-temperatures=10000 path=auto "
        f"direction=both level=0.9 checkpoint {RUNS} config",
    ),
    "predict": (
        "predictions of a regression, with intervals",
        *("evaluate.predict", "model data"),
        f"{READS} target level=0.9 quantiles out=DATA-predictions.csv threads=all quiet",
    ),
    "sample": (
        "draw rows, images or a video from a model, or go on with a sequence",
        *("draw.sample", "model"),
        f"n=64 n-gibbs start out {READS} size binarize length {RUNS}",
    ),
    "plot": (
        "draw a figure",
        *("draw.plot", "figure +files"),
        "quiet",
    ),
    "datasets": (
        "published data sets, and getting their files",
        *("setup.datasets", "action *names"),
        "data-dir mirror quiet",
    ),
    "warm": (
        "compile what models need, once on each computer",
        *("setup.warm", "*models"),
        "threads=all quiet",
    ),
    "show-config": (
        "print processor, BLAS and its kernels, threads, versions, and what makes them slow",
        *("setup.show_config", "", ""),
    ),
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    top = argparse.ArgumentParser(
        prog="trug-fast", description="Stochastic networks of truncated Gaussian units."
    )
    top.add_argument("--version", action="store_true", help="print the version and end")
    rooms = {"": top.add_subparsers(required=True, metavar="COMMAND")}
    models = rooms[""].add_parser("train", help="train a model")
    rooms["train"] = models.add_subparsers(required=True, metavar="MODEL")
    for name, (words, run, places, flags) in COMMANDS.items():
        room, _, last = name.rpartition(" ")
        about = f"{words[:1].upper()}{words[1:]}."
        own = rooms[room].add_parser(last, help=words, description=about, allow_abbrev=False)
        own.set_defaults(run=_late(run), command=last, **dict.fromkeys(("threads", "quiet", "out")))
        own.usage = f"{own.prog} {' '.join(places.upper().split())} [options]".translate(SHOWN)
        for place in places.split():
            dest, many = place.lstrip("?*+"), place[0] if place[0] in "?*+" else None
            text = f"{', '.join(NAMED[last])}, or " if dest == "data" and room else ""
            how: Any = {"choices": CHOICES.get(dest), "nargs": many, "metavar": dest.upper()}
            own.add_argument(dest, help=text + PLACES[dest], **how)
        for flag in flags.split():
            _add(own, last, *flag.partition("=")[::2])
    return top


def _add(own: argparse.ArgumentParser, command: str, flag: str, default: str) -> None:
    how, metavar, text = FLAGS.get(f"{command}:{flag}", FLAGS[flag])
    option = f"--{flag}" if len(flag) > 1 else f"-{flag}"
    text += f" (default {default})" if default else ""
    if how is True:
        own.add_argument(option, action="store_true", default=None, help=text)
    elif isinstance(how, tuple):
        own.add_argument(option, choices=how, help=text)
    else:
        own.add_argument(option, type=how, metavar=metavar, help=text)


def _late(place: str) -> Callable[[argparse.Namespace], None]:
    """Return what runs a command, whose module is imported then."""
    module, _, name = place.partition(".")

    def run(arguments: argparse.Namespace) -> None:
        getattr(import_module(f"{__package__}.{module}"), name)(arguments)

    return run
