"""What is said of generated videos is what they are."""

import json

import numpy as np
import pytest

from reproduction import generating, runner
from reproduction.__main__ import main
from trug_fast import datasets

VIDEOS = datasets.bouncing_balls(6, 40, size=16, rng=0)


class Recorder:
    """Stands for a model that goes on as the videos do."""

    def generate(self, n_frames, *, prefix, n_gibbs, return_mean, rng):
        ours = next(x for x in VIDEOS if np.array_equal(x[: len(prefix)], prefix))
        return ours[len(prefix) : len(prefix) + n_frames]


def test_the_data_s_own_videos_are_perfect():
    options = {"n_videos": 5, "n_frames": 30, "n_seen": 4, "lags": [2]}
    found = generating.judge(Recorder(), VIDEOS, options, 0)["generated"]
    for way in ("data", "draws", "means"):
        assert found[way]["frames"] == [1.0, 0.0] and found[way]["videos"] == 1.0
        assert abs(found[way]["speed"][0] - 0.5) < 0.03 and abs(found[way]["mass"][0] - 3) < 0.03
        assert found[way]["one_part"] < 0.2 and found[way]["residual"] < 0.012
    slope, error, pearson, _ = found["draws"]["lagged"]["2"]
    assert abs(slope - 1) < 3 * error and pearson > 0.8
    shown = generating.views([{"label": "itself", "generated": found}])
    assert "itself: draws" in shown and "1.00 +- 0.00" in shown and "lag 2" in shown
    assert "one part" in shown and "residual" in shown


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_videos": 1}, "generate.n_videos must be at least 2"),
        ({"n_frames": 5}, "n_frames must be more than the lags"),
        ({"lags": [-1]}, "generate.lags must be at least 0"),
        ({"n_videos": 9}, "n_videos must be at most 6"),
    ],
)
def test_wrong_options(options, words):
    with pytest.raises(ValueError, match=words):
        generating.judge(Recorder(), VIDEOS, options, 0)


def test_the_command_judges_and_prints(tmp_path, capsys):
    config = tmp_path / "tiny.toml"
    config.write_text("""
sequences = { videos = 4, test_videos = 4 }
train = { n_hidden = 5, epochs = 1, batch_size = 2, score = "none", own_frames = 0.5 }
generate = { n_videos = 2, n_frames = 6, n_gibbs = 2, lags = [0, 1] }
cells.balls.tanh.train = { truncation = "tanh", past_noise = 0.05 }
""")
    out = tmp_path / "out"
    assert main(["table2", f"--config={config}", f"--out={out}", "--quiet"]) == 0
    assert "tanh: means" in capsys.readouterr().out
    line = json.loads((out / runner.RESULTS).read_text())
    assert line["generated"]["data"]["videos"] == 1.0
