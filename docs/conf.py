"""The documentation as a site: pip install -e ".[docs]", then sphinx-build -W docs site.

Pages are Markdown, which repositories show as it stands; the reference is made of docstrings.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # tools.notebooks

import trug_fast
from trug_fast import kernels

# Sphinx takes compiled functions for data: it is shown what they were compiled from.
for _name in kernels.__all__:
    _function = getattr(kernels, _name)
    setattr(kernels, _name, getattr(_function, "py_func", _function))

ROOMS = ("training", "evaluation", "models", "distributions")
project = "trug_fast"
author = "trug_fast developers"
copyright = author
version = release = trug_fast.__version__
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "tools.notebooks",
]
exclude_patterns = ["conf.py"]
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath", "amsmath"]
suppress_warnings = ["myst.header"]  # pages may leave out a level
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
autodoc_default_options = {
    "members": True,
    "inherited-members": "tuple,Exception,BaseException",
    # Made by scikit-learn, with links into its own pages.
    "exclude-members": "set_predict_request,set_score_request,set_transform_request,"
    "set_fit_request,set_partial_fit_request",
}
autodoc_typehints = "none"  # docstrings say it in words, with shapes
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 80
html_theme = "furo"
html_title = "trug_fast"
html_favicon = "_static/icon.svg"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_theme_options = {
    "light_css_variables": {"font-stack": "system-ui, sans-serif"},
    "dark_css_variables": {"font-stack": "system-ui, sans-serif"},
}


def _hide_private(app, what, name, thing, options, signature, returns):
    """Show no signature that names what is private: such objects are made by functions."""
    return ("", returns) if signature and re.search(r"\b_[a-z]", signature) else None


def _name_notes(app, name, source):
    """Name notes, which lie beside the package and not on the site, where pages link to them."""
    link = r"\[([^\]]*)\]\(\.\./(reproduction/notes/[\w-]+\.md)(?:#[\w-]+)?\)"
    source[0] = re.sub(link, r"\1 (`\2`)", source[0])


def _find_home(app, env, node, contnode):
    """Find a name that a docstring writes without the module that it is in."""
    if node.get("refdomain") != "py":
        return None
    for home in ("trug_fast", *(f"trug_fast.{room}" for room in ROOMS)):
        own = node["refdoc"], app.builder, node["reftype"], f"{home}.{node['reftarget']}"
        found = env.get_domain("py").resolve_xref(env, *own, node, contnode)
        if found is not None:
            return found
    return None


def setup(app):
    """Have Sphinx call what is above."""
    app.connect("source-read", _name_notes)
    app.connect("autodoc-process-signature", _hide_private)
    app.connect("missing-reference", _find_home)
