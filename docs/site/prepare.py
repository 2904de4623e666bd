# SPDX-License-Identifier: MIT
"""Makes the directory that Sphinx reads: the repository's documents at their own places, so that their
links hold, with an index of each directory that a document links to.

Usage: prepare.py REPOSITORY DIRECTORY PROGRAM     (PROGRAM: barmap, whose --help is the reference)
"""

import pathlib
import re
import sys

import commands
import plots

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/layout"))
import rooms  # noqa: E402

DOCUMENTS = ("*.md", "LICENSE", "docs/*.md", "docs/plots/*.svg", "docs/results/**/*.*", "examples/*", "tests/**/*.tsv",
             *(f"{room}/**/README.md" for room in (*rooms.CODE, "tests")))
LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?\)")


written = set()


def write(target, content):
    """Writes what is new, so that Sphinx reads again only what has changed."""
    written.add(target)
    content = content.encode() if isinstance(content, str) else content
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists() or target.read_bytes() != content:
        target.write_bytes(content)


def index_of(directory, place):
    """A page that lists the files of a directory."""
    lines = ["---", "orphan: true", "---", f"# {place}", ""]
    readme = directory / "README.md"
    if readme.exists():
        lines += ["```{include} README.md", ":heading-offset: 1", "```", ""]
    for path in sorted(directory.rglob("*")):
        if path.is_file() and path.suffix != ".md":
            name = path.relative_to(directory)
            lines.append(f"- {{download}}`{name} <{name}>` ({path.stat().st_size:,} bytes)")
    return "\n".join(lines) + "\n"


def with_linked_directories(document, repository, target):
    """The text of a document, with each link to a directory going to an index of it."""
    base = document.parent

    def to_index(link):
        opening, path, anchor = link.groups()
        directory = (base / path).resolve()
        if not directory.is_dir():
            return link.group(0)
        place = directory.relative_to(repository)
        write(target / place / "index.md", index_of(directory, place))
        return f"{opening}{path.rstrip('/')}/index.md{anchor or ''})"

    return LINK.sub(to_index, document.read_text())


def main(repository, target, program):
    repository = pathlib.Path(repository).resolve()
    target = pathlib.Path(target).resolve()
    for pattern in DOCUMENTS:
        for source in repository.glob(pattern):
            place = target / source.relative_to(repository)
            if source.suffix == ".md":
                # The site's table of contents has the documents, and the page of the simulated GPU.
                alone = source.parent not in (repository, repository / "docs", repository / "sim")
                text = with_linked_directories(source, repository, target)
                write(place, "---\norphan: true\n---\n" + text if alone else text)
            elif source.is_file():
                write(place, source.read_bytes())
    # The site's own pages stand beside each other at its top.
    site = repository / "docs" / "site"
    for source in site.rglob("*"):
        if source.suffix == ".md":
            write(target / source.relative_to(site), source.read_bytes())
    write(target / "reference" / "commands.md", commands.pages(program))
    of_readme = repository / "docs" / "plots"
    for name, picture in plots.drawn(repository / "docs" / "results"):
        write(target / "plots" / name, picture)
        if (of_readme / name).exists() and (of_readme / name).read_bytes() != picture:
            sys.exit(f"docs/plots/{name} is not what docs/results gives: "
                     "build/docs/venv/bin/python docs/site/plots.py docs/results docs/plots")
    for stale in [path for path in target.rglob("*") if path.is_file() and path not in written]:
        stale.unlink()


if __name__ == "__main__":
    main(*sys.argv[1:])
