# SPDX-License-Identifier: MIT
"""Sphinx's settings. Its source directory is a copy of the repository's documents, which prepare.py makes."""

import json
import logging
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
sys.path.insert(0, str(HERE))

import stand_in  # noqa: E402
from docutils import nodes  # noqa: E402
from sphinx import addnodes  # noqa: E402

release = re.search(r"^project\(barmap VERSION ([\d.]+)", (REPOSITORY / "CMakeLists.txt").read_text(), re.M).group(1)
stand_in.import_package(REPOSITORY / "python", release)

project = "barmap"
author = "the barmap project"
copyright = "the barmap project, MIT licence"
version = release
language = "en"

extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton",
              "sphinx_design"]
# The first page includes the README, the list of the results theirs.
exclude_patterns = ["README.md", "docs/results/README.md"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

breathe_default_project = "barmap"
breathe_show_include = False
breathe_default_members = ("members", "undoc-members")
breathe_domain_by_extension = {"h": "c", "hpp": "cpp", "cuh": "cpp"}

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_mock_imports = ["cupy", "torch"]
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"barmap {release}"
html_static_path = ["_static"]
# The pictures of the README, which it shows by HTML of its own.
html_extra_path = [str(REPOSITORY / "build" / "docs" / "extra")]
html_css_files = ["site.css"]
html_js_files = ["search_context.js"]
html_copy_source = False
html_show_sphinx = False
html_domain_indices = False


def one_namespace(record):
    """Whether a warning counts: each header opens the same namespaces again."""
    return not re.search(r"Declaration is '.. cpp:type:: (barmap|gpu)'", record.getMessage())


def without_namespaces(app, doctree):
    """Shows what is in namespace barmap, and not the namespace around it once for each header."""
    for description in list(doctree.findall(addnodes.desc)):
        signature, content = description.children[0], description.children[-1]
        if signature.astext().strip() in ("namespace barmap", "namespace gpu"):
            place, parent = description.parent.index(description), description.parent
            parent[place:place + 1] = [nodes.target(ids=signature["ids"]), *content.children]


def write_for_search(app, name, template, context, doctree):
    """Writes a page once more as a script, from which search_context.js shows what it says."""
    if doctree is not None:
        script = pathlib.Path(app.outdir, "_static", "pages", f"{name}.js")
        script.parent.mkdir(parents=True, exist_ok=True)
        body = f'<div role="main">{context["body"]}</div>'
        script.write_text(f"searchedPage({json.dumps(name)}, {json.dumps(body)});\n")


def setup(app):
    logging.getLogger("sphinx.sphinx.domains.cpp").addFilter(one_namespace)
    app.connect("doctree-read", without_namespaces)
    app.connect("html-page-context", write_for_search)
