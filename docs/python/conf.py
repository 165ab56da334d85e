"""How `make docs-python` builds the user guide."""

import lkdl

project = "lkdl"
author = "The LKDL developers"
copyright = author
version = release = lkdl.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["tutorial/README.rst", "examples/README.rst"]
myst_enable_extensions = ["colon_fence"]

html_theme = "furo"
html_title = f"lkdl {version}"
html_theme_options = {"navigation_with_keys": True}
html_show_copyright = False
html_copy_source = False

# API reference: what `lkdl.__all__` names, a page each
autosummary_generate = True
autodoc_typehints = "none"  # the types are in the parameter lists
autodoc_default_options = {
    "members": True,
    "inherited-members": True,
    "show-inheritance": False,
}
napoleon_google_docstring = False
napoleon_use_rtype = False
default_role = "autolink"

sphinx_gallery_conf = {
    "examples_dirs": ["tutorial", "examples"],
    "gallery_dirs": ["auto_tutorial", "auto_examples"],
    "filename_pattern": r"/",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 0,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "image_srcset": ["2x"],
    "capture_repr": ("_repr_html_", "__repr__"),
    "write_computation_times": False,
}


def setup(app):
    """Leaves out what estimators have from scikit-learn alone: its pages describe it."""
    app.connect("autodoc-skip-member", lambda *args: is_foreign(args[3]) or None)


def is_foreign(member) -> bool:
    return str(getattr(member, "__module__", "")).startswith("sklearn.")
