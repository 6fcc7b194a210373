"""Settings of the documentation site; `python docs/build.py` lays out the pages and calls sphinx."""

import os
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import mercer

QUICK = bool(os.environ.get("MERCER_DOCS_QUICK"))  # all pages, no example is run

project, author, copyright = "mercer", "The mercer developers", "The mercer developers"
version = release = mercer.__version__
root_doc = "index"
extensions = [
    "sphinx.ext.autodoc",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
    "hooks",
]
exclude_patterns = ["examples", "gallery/*.ipynb", "**/sg_execution_times.rst", "sg_execution_times.rst"]
default_role = "py:obj"  # `name` in a docstring is a link where the name has a page, else code
nitpicky = False

autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
numpydoc_use_plots = False

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
smartquotes_action = "qe"  # quotes and ellipses; -- begins an option of a command

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "plot_gallery": not QUICK,
    "subsection_order": [f"examples/{name}" for name in ("jobs", "few_labels", "no_labels", "kernels_and_size")],
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "doc_module": ("mercer",),
    "backreferences_dir": "api/used",
    "abort_on_example_error": True,
    "min_reported_time": 1_000_000,
    "remove_config_comments": True,
    "thumbnail_size": (320, 224),
    "reset_modules": ("matplotlib",),
}
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

html_theme = "pydata_sphinx_theme"
html_title = f"mercer {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "gallery/index": []}
html_context = {"default_mode": "auto"}
toc_object_entries_show_parents = "hide"
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "show_toc_level": 2,
}
html_favicon = "_static/icon.svg"
html_math_renderer = "mathml"  # of `hooks`: a page loads nothing from elsewhere
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
