"""Table 4 made anew: its protocol, and trials that can be continued."""

import json
from importlib import resources

import numpy as np
import pytest
from scipy import stats

import trug_fast as tf
from reproduction import protocol, runner, table4, table4_aims, table4_peers
from reproduction.__main__ import main

TINY = """
trials = { splits = 3, workers = 2, paper_error = 100.0 }
train = { n_hidden = 5, epochs = 2 }
quick.trials.splits = 1
data.yacht = { label = "yachts" }

[cells.yacht]
relu = { label = "[0, inf)", paper = 0.821, train.truncation = "relu" }
common = { train.truncation = { lower = -1.0, upper = 1.0, learn = "shared" } }
perceptron = { paper = 1.182, trials.model = "perceptron" }
ensemble = { label = "three models", trials.splits = 2, trials.n_models = 3 }
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


def reproduce(config, *more):
    out = config.parent / "out"
    return main(["table4", f"--config={config}", f"--out={out}", "--quiet", *more])


def lines(config):
    text = (config.parent / "out" / runner.RESULTS).read_text()
    return {line["cell"]: line for line in map(json.loads, text.splitlines())}


def test_scores_of_normals_are_their_definitions():
    y = np.array([0.0, 1.0, 3.0, 10.0])
    found = table4_peers.prediction_scores(y, np.zeros(4), np.array([1.0, 1.0, 2.0, 2.0]))
    assert found["rmse"] == pytest.approx(np.sqrt(110 / 4))
    assert found["coverage"] == 0.75

    logs = stats.norm.logpdf(y, 0, [1, 1, 2, 2])
    assert found["log_likelihood"] == pytest.approx(logs.mean())


def test_the_shipped_table_is_the_papers():
    cells = {cell.name: cell for cell in table4.TABLE.cells(None, (), quick=False)}
    assert len(cells) == 9 * 10 + 5 + 2  # Gaussian processes and uncertain readouts of small ones
    splits = [cells[f"{name}/ensemble"].options["trials"]["splits"] for name in ("wine", "protein")]
    assert splits == [20, 5]
    assert cells["power/ensemble"].options["train"] == cells["power/per-unit"].options["train"]
    for name in ("boston", "concrete", "protein", "wine"):
        own, common = (cells[f"{name}/{kind}"].options for kind in ("ensemble", "ensemble-common"))
        ends = own["train"]["truncation"] | {"learn": "shared"}
        assert common["train"] == own["train"] | {"truncation": ends}
    assert cells["boston/per-unit"].paper == 3.622
    assert cells["yacht/common"].paper == 0.803
    assert cells["protein/perceptron"].paper == 4.539
    error = cells["concrete/per-unit"].options["trials"]["paper_error"]
    assert error == pytest.approx(0.571 / np.sqrt(10), rel=2e-3)
    assert cells["boston/perceptron"].options["trials"]["paper_error"] == 0.195  # theirs
    assert cells["protein/relu"].options["train"]["n_hidden"] == 100
    assert cells["wine/tanh"].options["train"]["n_hidden"] == 50


def test_a_table_is_trained_printed_and_written(config, capsys):
    pytest.importorskip("sklearn")
    assert reproduce(config) == 0
    printed = capsys.readouterr().out
    assert "| yachts | [0, inf)" in printed and "perceptron" in printed
    found = lines(config)
    assert found["yacht/relu"]["splits"] == 3
    assert found["yacht/relu"]["upper"] == "inf" and found["yacht/common"]["upper"] != 1.0
    # The same from the models it wrote.
    data, errors = tf.datasets.load_yacht(), []
    for index in range(3):
        model = tf.TruGTGGM.load(config.parent / "out" / "yacht" / "common" / f"model-{index}.npz")
        split = data.split(index)
        errors.append(np.sqrt(np.mean((model.predict(split.X_test) - split.y_test) ** 2)))
    line = found["yacht/common"]
    assert line["rmse"] == pytest.approx(np.mean(errors))
    assert line["rmse_deviation"] == pytest.approx(np.std(errors, ddof=1))
    assert 0 < found["yacht/perceptron"]["rmse"] < 30


def test_an_ensemble_is_scored_as_the_mixture_of_its_models(config, capsys):
    assert reproduce(config, "--only=yacht/ensemble") == 0
    printed = capsys.readouterr().out
    line, folder = lines(config)["yacht/ensemble"], config.parent / "out" / "yacht" / "ensemble"
    data, whole, alone, inside = tf.datasets.load_yacht(), [], [], []
    for index in range(2):
        _, _, X, y = data.split(index)
        ensemble = tf.TGGMEnsemble.load(folder / f"model-{index}.npz")
        factors = ensemble.noise_factors if ensemble.noise_factors is not None else [[1.0]]
        parts = [
            (mean, np.sqrt(std**2 + (factor - 1) * model.noise_variance))
            for model in ensemble
            for mean, std in [model.predict(X, return_std=True)]
            for (factor,) in factors
        ]
        density = np.mean([stats.norm.pdf(y, *part) for part in parts], axis=0)
        below = np.mean([stats.norm.cdf(y, *part) for part in parts], axis=0)
        mean = np.mean([part[0] for part in parts], axis=0)
        whole.append([np.sqrt(np.mean((mean - y) ** 2)), np.log(density).mean()])
        alone.append(np.mean([np.sqrt(np.mean((part[0] - y) ** 2)) for part in parts]))
        inside.append([np.mean(abs(below - 0.5) <= 0.5 * q) for q in (0.5, 0.9, 0.95)])
    found = [line[name] for name in ("rmse", "log_likelihood")]
    assert found == pytest.approx(np.mean(whole, axis=0))
    found = [line[name] for name in ("coverage_50", "coverage", "coverage_95")]
    assert found == pytest.approx(np.mean(inside, axis=0))
    assert len(ensemble) == 3 and line["one_rmse"] == pytest.approx(np.mean(alone))
    gains = np.array(whole)[:, 0] - alone
    assert line["rmse_gain"] == pytest.approx(gains.mean())
    assert line["rmse_gain_error"] == pytest.approx(abs(np.diff(gains)[0]) / 2)
    assert 0 < line["crps"] < line["rmse"] and "three models" in printed
    own = [text for text in printed.splitlines() if text.startswith("| yachts | 2 ")]
    assert [text.count("±") for text in own] == [2, 1]
    spread = [float(text.strip("% ")) for text in own[1].split("|")[-5:-1]]
    expected = [line["one_coverage"], *(line[f"coverage{own}"] for own in ("", "_50", "_95"))]
    assert spread == pytest.approx(100 * np.array(expected), abs=0.5)


def test_what_is_met_of_published_figures_is_bold_and_counted():
    def line(cell, rmse, density=0.0, paper=None):
        trials = {"paper_error": 0.1, "dropout": 0.6}
        own = {"cell": cell, "data": cell[:5], "rmse": rmse, "log_likelihood": density}
        return own | {"options": {"trials": trials}, "paper": paper}

    sets = {
        "yacht": {
            "per-unit": line("yacht/per-unit", 0.91, paper=0.8),
            "ensemble": line("yacht/ensemble", 0.59, -1.62),
            "common": line("yacht/common", 0.89, paper=0.8),
        },
        "power": {"ensemble": line("power/ensemble", 0.61, -2.71)},
        "other": {"ensemble": line("other/ensemble", 0.1)},  # nothing is published of it
    }
    rows = [
        [cell.strip() for cell in text.split("|")[1:-1]]
        for text in table4_aims.table(sets).splitlines()
    ]
    assert len(rows) == 5
    assert rows[2][1:4] == ["0.8 ± 0.1", "0.9100", "**0.5900**"]
    assert rows[2][4:7] == ["0.8 ± 0.1", "**0.8900**", ""]
    assert rows[2][7:] == ["**0.6**", "-1.620", "-1.38", "**-1.62**"]
    assert rows[3][3:] == ["0.6100", "", "", "", "0.6", "-2.710", "**-2.79**", "-2.70"]
    assert rows[4][1:4] == ["", "0 of 1", "1 of 1"]
    assert rows[4][5:] == ["1 of 1", "", "1 of 2", "", "1 of 2", "1 of 2"]


def test_quantiles_are_scored_as_the_distribution_they_are_of():
    y = np.random.default_rng(0).normal(size=500)
    quantiles = np.repeat(stats.norm.ppf(table4_peers.SHARES)[:, None], 500, axis=1)
    exact = 2 * stats.norm.pdf(y) + y * (2 * stats.norm.cdf(y) - 1) - 1 / np.sqrt(np.pi)
    found = table4_peers.crps_of_quantiles(quantiles, y)
    assert found.mean() == pytest.approx(exact.mean(), rel=0.005)
    sure = table4_peers.crps_of_quantiles(np.zeros_like(quantiles), y)
    np.testing.assert_allclose(sure, abs(y), rtol=1e-3)  # by the trapezoidal rule


@pytest.mark.parametrize("kind", ["process", "boosting", "perceptron"])
def test_models_of_scikit_learn(kind, monkeypatch):
    pytest.importorskip("sklearn")
    few = np.array([0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975])
    monkeypatch.setattr(table4_peers, "SHARES", few)  # each is a training
    rng = np.random.default_rng(0)
    X = rng.uniform(10, 12, (300, 2))
    y = 100 + 5 * np.sin(3 * X[:, 0]) + rng.normal(size=300)
    options = {"train": {"epochs": 60, "n_hidden": 20}, "trials": {"perceptron_rate": 0.01}}
    options["trials"] |= {"n_models": 2} if kind == "perceptron" else {}
    given = (X[:200], y[:200]), (X[200:], y[200:]), options, table4.LEVELS
    found = table4_peers.scores(kind, *given, seed=0)
    assert 0.7 < found["rmse"] < (1.3 if kind == "process" else 3.0)  # noise 1, signal 3.5
    assert 0.4 * found["rmse"] < found["crps"] < found["rmse"]
    assert 0 < found["coverage_50"] < found["coverage"] <= found["coverage_95"]
    assert ("log_likelihood" in found) == (kind != "boosting")
    if kind == "process":
        assert 0.8 < found["coverage"] < 0.98
        with pytest.raises(ValueError, match="takes at most 2000 rows, got 2001"):
            long = np.zeros((2001, 2)), np.arange(2001.0)
            table4_peers.scores(kind, long, *given[1:], seed=0)


def test_what_others_score_stands_beside_the_ensemble(config, capsys):
    pytest.importorskip("sklearn")
    own = 'trials = { splits = 3, model = "perceptron", n_models = 2 }'
    config.write_text(f"{TINY}perceptrons = {{ {own} }}\n")
    names = ("ensemble", "perceptrons")
    assert reproduce(config, *(f"--only=yacht/{name}" for name in names)) == 0
    found, printed = lines(config), capsys.readouterr().out
    ours, theirs = (found[f"yacht/{name}"]["crps_by_split"] for name in names)
    assert (len(ours), len(theirs)) == (2, 3)
    apart = np.mean(np.subtract(theirs[:2], ours))
    row = [text for text in printed.splitlines() if "| ten perceptrons " in text]
    assert len(row) == 1 and float(row[0].split("|")[7].split("±")[0]) == pytest.approx(apart, 0.1)


def test_an_ensemble_goes_on_at_the_split_it_was_stopped_at(config, monkeypatch):
    assert reproduce(config, "--only=yacht/ensemble") == 0
    whole = lines(config)["yacht/ensemble"]
    out = config.parent / "out"
    trials = out / "yacht" / "ensemble" / table4.TRIALS
    kept = [text for text in trials.read_text().splitlines() if json.loads(text)["split"] == 0]
    trials.write_text("\n".join(kept) + "\n")
    (out / runner.RESULTS).unlink()
    ran = []

    def counted(*arguments, trial=table4.trial, **options):
        ran.append(arguments[2])
        return trial(*arguments, **options)

    monkeypatch.setattr(table4, "trial", counted)
    assert reproduce(config, "--only=yacht/ensemble") == 0
    assert ran == [0, 1]  # the rehearsal, and what was missing
    again = lines(config)["yacht/ensemble"]
    for name in ("rmse", "crps", "log_likelihood_gain", "coverage_50"):
        assert again[name] == pytest.approx(whole[name], rel=1e-14)


def test_finished_trials_are_not_repeated(config, monkeypatch):
    assert reproduce(config, "--only=yacht/relu") == 0
    whole = lines(config)["yacht/relu"]
    trials = config.parent / "out" / "yacht" / "relu" / table4.TRIALS
    kept = [text for text in trials.read_text().splitlines() if json.loads(text)["split"] != 1]
    trials.write_text("\n".join(kept) + "\n")
    (config.parent / "out" / runner.RESULTS).unlink()
    ran = []

    def counted(*arguments, trial=table4.trial, **options):
        ran.append(arguments[2])
        return trial(*arguments, **options)

    monkeypatch.setattr(table4, "trial", counted)
    assert reproduce(config, "--only=yacht/relu") == 0
    assert ran == [0, 1]  # the rehearsal, and what was missing
    again = lines(config)["yacht/relu"]
    assert again["rmse"] == pytest.approx(whole["rmse"], rel=1e-14)
    assert reproduce(config, "--only=yacht/relu", "--seed=1") == 0  # another seed, other trials
    assert lines(config)["yacht/relu"]["rmse"] != whole["rmse"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("splits = 21", "trials.splits must be at most 20, got 21"),
        ("splits = 0", "trials.splits must be at least 1"),
        ("splits = 1, model = 'tree'", "trials.model must be one of 'tggm', 'perceptron'"),
        ("splits = 1, model = 'process', n_models = 2", "trials.n_models has no effect on"),
        ("splits = 1, n_models = 0", "trials.n_models must be at least 1, got 0"),
        ("splits = 1, folds = 2", "unknown key trials.folds"),
    ],
)
def test_wrong_protocols(config, capsys, change, message):
    config.write_text(TINY.replace("splits = 3", change, 1))
    assert reproduce(config, "--only=yacht/relu") == 2
    assert message in capsys.readouterr().err


def test_options_are_those_of_training():
    assert {"n_hidden", "epochs", "truncation", "learning_rate"} <= set(table4.SECTIONS["train"])
    assert not {"X", "y", "rng", "progress", "start"} & set(table4.SECTIONS["train"])
    assert protocol.text("table4").count("paper =") == 54


def test_the_table_in_the_papers_form(config, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    assert reproduce(config, "--only=yacht/relu", "--only=yacht/common") == 0
    printed = capsys.readouterr().out
    line = lines(config)["yacht/common"]
    assert line["rmse_error"] == pytest.approx(line["rmse_deviation"] / np.sqrt(3))
    assert len(line["rmse_by_split"]) == 3
    assert np.mean(line["rmse_by_split"]) == pytest.approx(line["rmse"])
    assert 0 < line["coverage"] <= 1 and line["coverage_error"] >= 0
    grid = [text for text in printed.splitlines() if text.startswith("| yachts")]
    assert f"{line['lower']:.2f} " in grid[-1] and f"{line['width']:.2f} " in grid[-1]
    assert f"{lines(config)['yacht/relu']['rmse']:.1f}" in grid[2] and "(0.821)" in grid[2]
    out = config.parent / "out"
    monkeypatch.undo()  # a figure of its true size
    assert main(["nonlinearities", f"--out={out}"]) == 0
    assert (out / "figures" / "nonlinearities.png").stat().st_size > 10_000
    assert main(["nonlinearities", f"--out={config.parent}"]) == 2


def test_width_is_that_of_the_model(config):
    assert reproduce(config, "--only=yacht/common") == 0
    folder = config.parent / "out" / "yacht" / "common"
    models = [tf.TruGTGGM.load(folder / f"model-{index}.npz") for index in range(3)]
    widths = [(m.upper - m.lower)[0] / np.sqrt(m.hidden_variance) for m in models]
    assert lines(config)["yacht/common"]["width"] == pytest.approx(np.mean(widths))


def test_splits_may_start_later(config):
    config.write_text(TINY.replace("splits = 3", "first = 18, splits = 2"))
    assert reproduce(config, "--only=yacht/relu") == 0
    trials = (config.parent / "out" / "yacht" / "relu" / table4.TRIALS).read_text()
    assert sorted(json.loads(text)["split"] for text in trials.splitlines()) == [18, 19]
    config.write_text(TINY.replace("splits = 3", "first = 18, splits = 3"))
    assert reproduce(config, "--only=yacht/relu") == 2


def test_what_chose_the_options_used_no_split_of_the_table():
    path = resources.files("reproduction").joinpath("table4_choice.toml")
    table = {cell.name: cell for cell in table4.TABLE.cells(None, (), quick=False)}
    for cell in table4.TABLE.cells(str(path), (), quick=False):
        own = table[f"{cell.name.split('/')[0]}/per-unit"].options
        if not cell.name.startswith("protein"):
            assert cell.options["trials"]["first"] >= own["trials"]["splits"]
        for name in ("n_hidden", "truncation"):
            assert cell.options["train"][name] == own["train"][name]


def test_what_chose_the_options_of_ensembles_has_what_was_chosen():
    path = resources.files("reproduction").joinpath("table4_ensembles.toml")
    table = {cell.name: cell for cell in table4.TABLE.cells(None, (), quick=False)}
    tried = {cell.name: cell for cell in table4.TABLE.cells(str(path), (), quick=False)}
    held = {"validation": 0.3, "refit": False}
    for name, chosen in (("wine", "by-input-010"), ("concrete", "units-100"), ("boston", "single")):
        own = table[f"{name}/ensemble"].options["train"]
        assert tried[f"{name}/{chosen}"].options["train"] == held | own


def test_the_tenth_set_has_a_table_of_its_own():
    path = resources.files("reproduction").joinpath("table4_year.toml")
    cells = {cell.name: cell for cell in table4.TABLE.cells(str(path), (), quick=False)}
    assert len(cells) == 6 and cells["year/tanh"].paper == 8.859
    own = {cell.name: cell for cell in table4.TABLE.cells(None, (), quick=False)}
    for name in ("n_hidden", "batch_size", "objective", "learning_rate"):
        assert (
            cells["year/relu"].options["train"][name]
            == (own["protein/relu"].options["train"][name])
        )
