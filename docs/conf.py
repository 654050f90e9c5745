"""Sphinx settings: ``make docs``."""

from fdmvgcl import __version__

project = "fdmvgcl"
author = "the fdmvgcl authors"
copyright = "the fdmvgcl authors, MIT licence"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_heading_anchors = 2

html_theme = "furo"
html_title = "fdmvgcl"
html_copy_source = False
html_show_sphinx = False

autodoc_default_options = {
    "members": True,
    # scikit-learn adds these to every estimator, with docstrings that refer to its own pages
    "exclude-members": "set_fit_request, set_partial_fit_request, set_transform_request",
}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
