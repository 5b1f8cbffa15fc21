"""What later frames of a video know of it: noise, bridges, and frames of the model's own."""

import numpy as np
import pytest

import trug_fast as tf
from reproduction import past
from trug_fast.models.sequences import Sequences


def discs(centres, size=20, radius=3.0):
    """Return a picture with a lit disc at each of the centres, as a row."""
    places = np.indices((size, size))
    away = [np.hypot(places[0] - y, places[1] - x) for y, x in centres]
    return (np.min(away, axis=0) <= radius).astype(np.float32).ravel()


def bridged(pictures, share=1.0, number=0):
    """Return such frames with bridges."""
    frames = np.array(pictures)
    past.add_bridges(frames, share, np.random.default_rng(number))
    return frames


def test_bridges_fill_gaps_and_leave_single_discs_alone():
    near, far = discs([(10, 5), (10, 13)]), discs([(4, 4), (15, 15)])
    corner, gap = discs([(0, 0)]), 10 * 20 + 9  # a disc beyond the border has no bridge to it
    given = np.stack([near, far, corner] * 40)
    gaps = []
    for number in range(40):
        found = bridged(given, number=number)
        assert ((found >= given) & (found <= 1.0)).all()
        np.testing.assert_array_equal(found[2::3], given[2::3])
        np.testing.assert_array_equal(found[1::3], given[1::3])
        gaps.append(found[::3, gap])
    gaps = np.concatenate(gaps)
    # The gap is of one pixel, which no disc fits: it is filled, by 0.3 to 1.
    assert gaps.min() >= 0.3 and abs(gaps.mean() - 0.65) < 5 * 0.7 / np.sqrt(12 * gaps.size)


def test_bridges_are_of_a_share_of_frames_and_new_each_time():
    given = np.stack([discs([(10, 5), (10, 13)])] * 4000)
    number = next(k for k in range(20) if (bridged(given[:1], number=k) != given[:1]).any())
    found = bridged(given, 0.3, number)
    share = (found != given).any(axis=1).mean()
    assert abs(share - 0.3) < 5 * np.sqrt(0.21 / 4000)  # five deviations
    np.testing.assert_array_equal(bridged(given, 0.3, number), found)
    assert not np.array_equal(bridged(given, 0.3, number + 1), found)


def chain(weights, visible_to_visible):
    """Return a model without noise: what weights of 80 lead to is certain."""
    n, none = len(weights), np.zeros((len(weights), len(weights)))
    biases = -0.5 * (weights + visible_to_visible).sum(axis=1), -0.5 * weights.sum(axis=0), 0.0, 0.0
    return tf.BernoulliTRBM(weights, none, visible_to_visible, np.zeros((n, n)), *biases)


@pytest.fixture
def given():
    rng, lengths = np.random.default_rng(0), np.array([12, 5, 1, 9])
    return Sequences(rng.integers(0, 2, (lengths.sum(), 6)).astype(float), lengths)


def redrawn(model, given, share=1.0, number=7):
    """Return the frames of which some are what the model makes of them."""
    frames = given.frames.copy()
    past.redraw(frames, given, share, np.random.default_rng(number), model)
    return Sequences(frames, given.lengths)


def test_own_frames_start_at_the_given_frame_and_know_its_past(given):
    none = np.zeros((6, 6))
    # Hidden units copy the frame, and the frame is drawn from them: sweeps leave it where it was.
    known = redrawn(chain(80 * np.eye(6), none), given)
    np.testing.assert_allclose(known.frames, given.frames, atol=1e-12)
    # Each frame is that before it, moved by one place, whatever is given; the first stays.
    known = redrawn(chain(none, 80 * np.roll(np.eye(6), 1, axis=0)), given)
    for before, after in zip(given.split(given.frames), given.split(known.frames), strict=True):
        np.testing.assert_array_equal(after[0], before[0])
        np.testing.assert_allclose(after[1:], np.roll(before[:-1], 1, axis=1), atol=1e-12)


def test_own_frames_are_some_and_the_same_again(given):
    model, changed = chain(np.zeros((6, 6)), np.zeros((6, 6))), []
    for number in range(40):
        known, again = (redrawn(model, given, 0.3, number) for _ in range(2))
        np.testing.assert_array_equal(again.frames, known.frames)
        rows = (known.frames != given.frames).any(axis=1)
        np.testing.assert_array_equal(known.frames[rows], 0.5)
        changed.append(rows)
    several = 40 * (given.lengths.sum() - 4)
    assert abs(np.sum(changed) / several - 0.3) < 4 * np.sqrt(0.21 / several)  # four deviations
    np.testing.assert_array_equal(redrawn(model, given, 0.0).frames, given.frames)


def test_sweeps_of_own_frames_are_up_to_as_many_as_said(given, monkeypatch):
    found = []

    def watched(layers, chains, n_gibbs, *address):
        found.append(n_gibbs)

    monkeypatch.setattr(past.gibbs, "run_chains", watched)
    for number in range(60):
        redrawn(chain(np.eye(6), np.eye(6)), given, number=number)
    assert set(found) == set(range(1, past.SWEEPS + 1))


def test_the_past_alone_is_noisy_and_the_frames_are_as_they_were():
    frames = np.random.default_rng(0).integers(0, 2, (4, 20, 100)).astype(np.float32)
    transform = past.transform_of({"past_noise": [0.2, 0.1], "epochs": 3}, real=False)
    generator, given = np.random.default_rng(0), list(frames.copy())
    for share, noise in ((0.0, 0.2), (1 / 3, 0.2 * 0.5 ** (1 / 3))):
        same, noisy = transform(given, generator, share, None)
        np.testing.assert_array_equal(same, frames)
        changed = (np.array(noisy) != frames).mean()
        assert abs(changed - noise / 2) < 5 * np.sqrt(0.09 / frames.size)  # five deviations
    assert past.transform_of({"epochs": 3}, real=False) is None


@pytest.mark.parametrize(
    ("options", "real", "words"),
    [
        ({"past_noise": 1.5}, False, "past_noise must be at most 1"),
        ({"past_bridges": (0.1, 1.1)}, False, "past_bridges must be at most 1"),
        ({"own_frames": -0.1}, False, "own_frames must be at least 0"),
        ({"own_frames": 0.1}, True, "are for videos of the balls"),
    ],
)
def test_what_is_refused(options, real, words):
    with pytest.raises(ValueError, match=words):
        past.transform_of(options, real)


def test_training_with_all_of_it_goes_on_as_if_it_had_not_stopped(tmp_path):
    videos = tf.datasets.bouncing_balls(6, 8, size=8, n_balls=1, rng=0)
    options = {"past_noise": [0.06, 0.004], "past_bridges": 0.5, "own_frames": [0.1, 1.0]}
    how = {"epochs": 2, "monitor": None, "rng": 0}
    how["transform"] = past.transform_of(options | how, real=False)
    whole = tf.train_trbm(videos, 4, **how).model
    path = tmp_path / "run.npz"

    def stop(event):
        raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        tf.train_trbm(videos, 4, **how, checkpoint=path, callbacks=[stop])
    rest = tf.train_trbm(
        videos, 4, **how, checkpoint=tf.training.Checkpoint(path, resume=True)
    ).model
    np.testing.assert_array_equal(whole.weights, rest.weights)
    with pytest.raises(ValueError, match=r"transform is .Past\(past_noise=.* there, None here"):
        tf.train_trbm(
            videos,
            4,
            **how | {"transform": None},
            checkpoint=tf.training.Checkpoint(path, resume=True),
        )
