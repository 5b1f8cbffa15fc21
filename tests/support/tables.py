"""A table small enough to be made anew in seconds, and what runs it."""

from reproduction.__main__ import main

TINY = """
train = { n_hidden = 8, epochs = 3 }
annealing = { n_chains = 10, n_temperatures = 30, direction = "both" }
quick.train.epochs = 1
data.digits = { label = "small digits", images = { set = "digits" } }

[cells.digits]
per-unit = { paper = -9.5, train.truncation = { lower = 0, upper = 4, learn = "per_unit" } }
shared = { label = "common", train.truncation = "c-learn", images.binarize = "epoch" }
relu = { train.truncation = [0, inf] }
rbm = { train.hidden = "bernoulli", bound = { n_images = 30, n_temperatures = 40 } }
"""

# A file after each update, which on a disk takes longer than all else.
CONTINUED = TINY.replace("epochs = 3", "epochs = 3, checkpoint_every = 0.0")
ONE = ["--only=digits/shared", "--quiet"]


def reproduce(config, out, *more):
    return main(["table1", f"--config={config}", f"--out={out}", *more])


def refuse(*args, **options):
    raise AssertionError("is computed again")


def interrupt(*args, **options):
    raise KeyboardInterrupt


def figures_of(line):
    """Return what must not depend on when and in how many parts it was computed."""
    when = ("finished", "training_seconds", "annealing_seconds", "machine", "source")
    kept = {name: value for name, value in line.items() if name not in when}
    train = {k: v for k, v in line["options"]["train"].items() if k != "checkpoint_every"}
    return kept | {"options": line["options"] | {"train": train}}
