"""Settings of the site, for Sphinx; `hatch run docs` builds and serves it."""

from __future__ import annotations

project = "mt"
author = "the authors of mt"
extensions = ["myst_parser", "mt.docs.extension"]
exclude_patterns = [
    *("drawings", "node_modules", "static"),
    *("names.md", "promises.md"),  # copied into guides/
]
templates_path = ["templates"]
html_theme = "furo"
html_title = "mt"
html_favicon = "static/favicon.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_use_index = False
html_show_sphinx = False
html_show_copyright = False
html_math_renderer = "mathml"
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-dark"
maximum_signature_line_length = 88
python_trailing_comma_in_multi_line_signatures = False
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_block", "attrs_inline"]
myst_heading_anchors = 3
suppress_warnings = ["ref.python"]  # types in signatures that several packages define
