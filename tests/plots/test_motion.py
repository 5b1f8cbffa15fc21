"""Stick figures."""

import numpy as np
import pytest

from trug_fast import plots

pytest.importorskip("matplotlib")

# A leg that hangs from the root, and a nose before it.
BONES = [[0, 1], [0, 2]]
BODY = np.array([[0.0, 3.0, 0.0], [0.0, 0.0, 0.0], [0.0, 3.0, 1.0]])  # faces z


def moving(way, n_frames):
    return BODY + np.arange(n_frames)[:, None, None] * np.array(way, float)


def test_bodies_go_to_the_right():
    turn = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])  # z to x
    for sequence in (moving([0, 0, 1], 3), moving([0, 0, 1], 3) @ turn.T, BODY[None]):
        view = plots.side_view(sequence)
        expected = np.broadcast_to([[0, 3], [0, 0], [1, 3]], view.shape)
        np.testing.assert_allclose(view, expected, atol=1e-14)
    backwards = plots.side_view(moving([0, 0, -1], 2))
    np.testing.assert_allclose(backwards[:, 2, 0], -1)


def test_rows_show_each_second_frame(tmp_path):
    motions = {"one": moving([0, 0, 1], 5), "two": moving([0, 0, 2], 3)}
    figure = plots.stick_figures(motions, BONES, every=2, sides=[-1, 0])
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
    plots.save_motion({**motions, "leg": swinging}, BONES, tmp_path / "s.gif")
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
        plots.stick_figures(**{"motions": {"walk": BODY[None]}, "bones": BONES, **options})
