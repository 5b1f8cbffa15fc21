"""The rule of checkpoints that trainings and annealing share; whole runs: tests of theirs."""

import numpy as np
import pytest

import trug_fast as tf
from trug_fast._common import files
from trug_fast._common.checkpoints import RunFile, array_identity, as_checkpoint, seed_of

IDENTITY = {"data": "(3,) float64", "epochs": 4}


def run_file(path, **options):
    return RunFile(tf.training.Checkpoint(path, **options), "test_run", 1, "testing")


def written(path):
    """Write the file of a run."""
    file = run_file(path)
    file.belong_to(IDENTITY, seed=7)
    file.start({"values": np.arange(3.0)})
    return path


@pytest.mark.parametrize(
    ("fields", "kind", "words"),
    [
        ({"path": ""}, ValueError, "path must name a file, got ''"),
        ({"path": None}, TypeError, "path must be a path, got NoneType"),
        ({"every": -1}, ValueError, "every must be at least 0"),
        ({"every": "often"}, TypeError, "every must be a number, got 'often'"),
        ({"resume": "maybe"}, ValueError, "resume must be True, False or 'auto', got 'maybe'"),
        ({"resume": 1}, ValueError, "resume must be True, False or 'auto', got 1"),
    ],
)
def test_a_checkpoint_checks_its_fields(fields, kind, words):
    with pytest.raises(kind, match=words):
        tf.training.Checkpoint(**{"path": "run.npz"} | fields)


def test_a_path_stands_for_a_checkpoint(tmp_path):
    path = tmp_path / "run.npz"
    assert as_checkpoint(path) == as_checkpoint(str(path)) == tf.training.Checkpoint(path)
    assert as_checkpoint(None) is None
    given = tf.training.Checkpoint(path, every=3, resume=True)
    assert as_checkpoint(given) is given
    with pytest.raises(TypeError, match="checkpoint must be a path, got int"):
        as_checkpoint(3)
    with pytest.raises(AttributeError):
        given.every = 4


def test_resume_says_whether_the_file_must_exist(tmp_path):
    path = tmp_path / "run.npz"
    with pytest.raises(FileNotFoundError, match="no such file"):
        run_file(path, resume=True)
    assert run_file(path, resume="auto").found is None
    assert run_file(path).found is None
    written(path)
    with pytest.raises(FileExistsError, match=r"run.npz exists; pass resume=True to continue"):
        run_file(path)
    for resume in (True, "auto"):
        assert run_file(path, resume=resume).found["values"].tolist() == [0.0, 1.0, 2.0]


def test_a_run_without_a_seed_takes_the_one_found(tmp_path):
    file = run_file(written(tmp_path / "run.npz"), resume=True)
    assert seed_of(file, None, "test") == file.seed == 7
    assert seed_of(file, 3, "test") == seed_of(None, 3, "test") != 7
    assert seed_of(None, None, "test") != seed_of(None, None, "test")


def test_each_difference_is_named(tmp_path):
    file = run_file(written(tmp_path / "run.npz"), resume=True)
    file.belong_to(IDENTITY, seed=7)
    with pytest.raises(ValueError, match="another run") as caught:
        file.belong_to({"data": "(4,) float64", "start": None}, seed=8)
    for words in (
        "data is '(3,) float64' there, '(4,) float64' here",
        "epochs is 4 there, None here",
        "seed from rng is 7 there, 8 here",
    ):
        assert words in str(caught.value)


@pytest.mark.parametrize("identity", ["[1]", "{", "[" * 100_000])
def test_a_file_that_does_not_say_whose_it_is_is_damaged(tmp_path, identity):
    path = tmp_path / "run.npz"
    files.write(path, "test_run", {"identity": np.array(identity), "seed": np.array(7)})
    with pytest.raises(ValueError, match="does not say which run it belongs to"):
        run_file(path, resume=True).belong_to(IDENTITY, seed=7)
    files.write(path, "test_run", {"seed": np.array(7)})
    with pytest.raises(ValueError, match="lacks identity; it is damaged"):
        run_file(path, resume=True)


def test_a_place_that_takes_no_file_is_an_error_at_first_and_a_warning_later(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "run.npz"
    file = run_file(path)
    file.belong_to(IDENTITY, seed=7)
    file.start({})
    path.unlink()
    folder.rmdir()
    with pytest.warns(UserWarning, match="cannot write checkpoint .*, testing goes on"):
        assert not file.save({})
    with pytest.raises(OSError, match="cannot write checkpoint .*run.npz"):
        file.start({})


def test_time_between_two_writes(tmp_path):
    assert run_file(tmp_path / "a.npz", every=0).due()
    assert not run_file(tmp_path / "b.npz", every=3600).due()


def test_arrays_are_known_again():
    array = np.arange(6.0).reshape(2, 3)
    words = array_identity(array)
    assert words.startswith("(2, 3) float64 SHA-256 ")
    assert words == array_identity(np.asfortranarray(array))
    others = (array + 1, array.T.copy(), array.astype(np.float32))
    assert len({words, *map(array_identity, others)}) == 4
