"""Stick figures."""

import numpy as np
import pytest

import trug_fast as tf
from reproduction import stick_figures as sticks
from reproduction.__main__ import main
from tests.support.skeletons import SMALL

pytest.importorskip("matplotlib")

# A leg that hangs from the root, and a nose before it.
BONES = [[0, 1], [0, 2]]
BODY = np.array([[0.0, 3.0, 0.0], [0.0, 0.0, 0.0], [0.0, 3.0, 1.0]])  # faces z


def moving(way, n_frames):
    return BODY + np.arange(n_frames)[:, None, None] * np.array(way, float)


def test_bodies_go_to_the_right():
    turn = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])  # z to x
    for sequence in (moving([0, 0, 1], 3), moving([0, 0, 1], 3) @ turn.T, BODY[None]):
        view = sticks.side_view(sequence)
        expected = np.broadcast_to([[0, 3], [0, 0], [1, 3]], view.shape)
        np.testing.assert_allclose(view, expected, atol=1e-14)
    backwards = sticks.side_view(moving([0, 0, -1], 2))
    np.testing.assert_allclose(backwards[:, 2, 0], -1)


def test_rows_show_each_second_frame(tmp_path):
    motions = {"one": moving([0, 0, 1], 5), "two": moving([0, 0, 2], 3)}
    figure = sticks.stick_figures(motions, BONES, every=2, sides=[-1, 0])
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["one", "two"]
    for ax, figures in zip(figure.axes, (3, 2), strict=True):
        left, middle, right, ground = (line.get_xydata() for line in ax.lines)
        assert len(left) == 0 and len(middle) == len(right) == 3 * figures
        np.testing.assert_allclose(ground[:, 1], 0)
        feet = right[1::3]
        np.testing.assert_allclose(feet[:, 1], 0)
        places = np.diff(feet[:, 0])
        np.testing.assert_allclose(places, places[0])
        np.testing.assert_allclose(middle[1::3] - feet, np.broadcast_to([1, 3], feet.shape))
    figure.savefig(tmp_path / "sticks.png")


def test_animation_holds_every_frame(tmp_path):
    image = pytest.importorskip("PIL.Image")
    motions = {"a name that needs more than a line": moving([0, 0, 1], 4), "short": BODY[None]}
    swinging = motions["short"].repeat(4, axis=0)
    swinging[:, 1, 2] = [-1, 0, 1, 2]
    sticks.save_motion({**motions, "leg": swinging}, BONES, tmp_path / "s.gif")
    with image.open(tmp_path / "s.gif") as found:
        assert found.n_frames == 4 and found.info["duration"] == 30
        frames = []
        for t in range(4):
            found.seek(t)
            frames.append(np.asarray(found.convert("L")))
    changed = np.flatnonzero((frames[0] != frames[3]).any(axis=0))
    assert changed.min() > frames[0].shape[1] / 2  # nothing but the leg swings


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"motions": {}}, "motions must not be empty"),
        ({"motions": {"walk": BODY}}, r"walk must have shape \(T, n_joints, 3\), got \(3, 3\)"),
        ({"motions": {"walk": BODY[None] * np.nan}}, "walk must be finite"),
        ({"motions": {"walk": BODY[None, :2]}}, "joints below 2, the joints of walk"),
        ({"bones": [[0, -1]]}, "joints below 3"),
        ({"bones": [[0.0, 1.0]]}, "bones must be pairs of joints"),
        ({"bones": [0, 1]}, "bones must be pairs of joints"),
        ({"sides": [1]}, "sides must hold -1, 0 or 1 for each of the 2 bones"),
        ({"sides": [1, 2]}, "sides must hold -1, 0 or 1"),
        ({"every": 0}, "every must be at least 1"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        sticks.stick_figures(**{"motions": {"walk": BODY[None]}, "bones": BONES, **options})


@pytest.fixture
def folder(tmp_path):
    """Make files like those of the data base, of a smaller body."""
    root = ("tilt_fwd", "tilt_hip", "d_yaw", "v_hip", "v_fwd", "height")
    maps = ("larm.ex", "larm.ey", "larm.ez", "lhand.ey", "rarm.ez")
    names = [*(f"root.{name}" for name in root), *maps]
    frames = np.random.default_rng(0).normal(0, 0.1, (36, len(names)))
    frames += [np.pi / 2, np.pi / 2, 0, 0, -1, 5, *np.zeros(5)]
    np.savez(
        tmp_path / "cmu35_walk_run_30fps.npz",
        taylor62=frames,
        taylor62_names=names,
        seq_lengths=[12, 12, 12],
        seq_trials=["35_01", "35_18", "35_29"],
        n_train_sequences=1,
    )
    (tmp_path / "35.asf").write_text(SMALL)
    return tmp_path


def save_model(path, n_visible, **options):
    weights = np.random.default_rng(0).normal(0, 0.1, (n_visible, 2))
    square = np.eye(n_visible)
    tf.BernoulliTRBM(weights, weights.T, square, np.eye(2), 0, 0, 0, 0, **options).save(path)
    return str(path)


def test_command(folder, capsys):
    model = save_model(folder / "model.npz", 11, visible_precision=4.0)
    words = f"motion {model} --data-dir {folder} --n-seen 5 --n-frames 7 --n-gibbs 3 --every 2"
    for name in ("walk.png", "walk.gif"):
        assert main([*words.split(), str(folder / name)]) == 0
        assert f"written to {folder / name}" in capsys.readouterr().out
        assert (folder / name).stat().st_size > 1000


def test_command_with_bad_input(folder, capsys, monkeypatch):
    monkeypatch.delenv("TRUG_FAST_DATA", raising=False)
    out = folder / "walk.png"
    good = save_model(folder / "model.npz", 11, visible_precision=4.0)
    small = save_model(folder / "small.npz", 9, visible_precision=4.0)
    binary = save_model(folder / "binary.npz", 11)
    here = f"--data-dir={folder}"
    for model, options, words in (
        (good, [], "nowhere"),
        (good, [f"--data-dir={folder / 'none'}"], "no file cmu35_walk_run_30fps.npz"),
        (good, [here], "--n-seen and --n-frames must be 12 at most together"),
        (good, [here, "--trial=35_02"], "--trial must be one of 35_01, 35_18, 35_29, got 35_02"),
        (good, [here, "--n-seen=0"], "--n-seen must be at least 1"),
        (good, [here, "--n-frames=0"], "--n-frames must be at least 1"),
        (small, [here], "has 9 gaussian visible units, the motion has 11 real channels"),
        (binary, [here], "has 11 bernoulli visible units, the motion has 11 real channels"),
    ):
        assert main(["motion", model, str(out), *options]) == 2
        message = capsys.readouterr().err
        assert words in message and message.count("\n") == 1
    (folder / "35.asf").write_text(SMALL.replace("larm lhand", ""))
    for words in ("35.asf is damaged", "no file 35.asf"):
        assert main(["motion", good, str(out), here]) == 2
        message = capsys.readouterr().err
        assert words in message and message.count("\n") == 1
        (folder / "35.asf").unlink(missing_ok=True)
    assert not out.exists()
