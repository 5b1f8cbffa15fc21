"""Configuration files: layers, and mistakes that are named."""

import re

import pytest

from reproduction import figures, protocol
from reproduction.__main__ import main

SECTIONS = {"images": ("set",), "train": ("epochs", "k")}


def test_later_layers_win_option_by_option(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(
        "train = { epochs = 1, k = 1 }\n"
        "data.a.train = { epochs = 2 }\n"
        "cells.a.x.train.k = 3\n"
        "cells.a.y.train.epochs = 4\n"
        "cells.b.z = { paper = -3, label = 'Z' }\n"
        "quick.train.epochs = 9\n"
    )
    cells = protocol.read("t", path, SECTIONS, quick=False)
    assert [cell.options["train"] for cell in cells] == [
        {"epochs": 2, "k": 3},
        {"epochs": 4, "k": 1},
        {"epochs": 1, "k": 1},
    ]
    assert [(cell.name, cell.data, cell.label, cell.paper) for cell in cells] == [
        ("a/x", "a", "x", None),
        ("a/y", "a", "y", None),
        ("b/z", "b", "Z", -3.0),
    ]
    fast = protocol.read("t", path, SECTIONS, quick=True)
    assert {cell.options["train"]["epochs"] for cell in fast} == {9}
    assert [cell.name for cell in protocol.select(cells, ["b", "a/y"])] == ["a/y", "b/z"]
    with pytest.raises(ValueError, match="no cell 'a/w'; there are a/x, a/y, b/z"):
        protocol.select(cells, ["a/w"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("trian.epochs = 1", "unknown key trian; expected one of data, cells, quick"),
        ("train.epoch = 1", "unknown key train.epoch; expected one of epochs, k"),
        ("data.a.name = 1", "unknown key data.a.name"),
        ("data.a.train.batch = 1", "unknown key data.a.train.batch"),
        ("cells.a.x.papers = 1", "unknown key cells.a.x.papers"),
        ("cells.a.x.train.l = 1", "unknown key cells.a.x.train.l"),
        ("quick.train.epoch = 1", "unknown key quick.train.epoch"),
        ("quick.cells = {}", "unknown key quick.cells"),
        ("data.b.label = 'B'", r"data.b is used by no cell"),
        ("cells.a.x.paper = 'good'", "cells.a.x.paper must be a number, got 'good'"),
        ("cells.a.x = 1", "cells.a.x must be a table, got 1"),
        ("train = 5", "train must be a table, got 5"),
        ("cells.a.'../x' = {}", "cell 'a/../x' must be named by letters"),
        ("train = ", "is no valid TOML"),
    ],
)
def test_mistakes_in_a_configuration_are_named(text, words, tmp_path):
    path = tmp_path / "wrong.toml"
    path.write_text(f"{text}\n" + ("" if "cells.a.x" in text else "cells.a.x = {}\n"))
    with pytest.raises((ValueError, TypeError), match=re.escape(str(path)) + ".*" + words):
        protocol.read("t", path, SECTIONS, quick=False)


def test_a_configuration_without_cells_is_refused(tmp_path):
    path = tmp_path / "empty.toml"
    path.write_text("")
    with pytest.raises(ValueError, match="holds no cells"):
        protocol.read("t", path, SECTIONS, quick=False)


def test_the_configuration_can_be_printed_and_used(tmp_path, capsys):
    for what in ("table1", "figures"):
        assert main([what, "--print-config"]) == 0
        printed = capsys.readouterr().out
        assert printed == protocol.text(what)
    (tmp_path / "copy.toml").write_text(printed)
    assert figures.settings(str(tmp_path / "copy.toml"), quick=False)["samples"]["n"] == 100
