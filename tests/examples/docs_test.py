#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The documents name only what is there.

Every path, environment variable, subcommand, ctest label, preset and rule number that a document
names exists, and what a user may set is documented. The README's figures are those of docs/results. Usage: docs_test.py REPOSITORY
"""

import csv
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "layout"))
import rooms as layout_rooms  # noqa: E402

root = pathlib.Path(sys.argv[1]).resolve()
problems = []

documents = sorted(
    path
    for pattern in ("*.md", "docs/*.md", "tests/*.md", *(f"{room}/**/*.md" for room in layout_rooms.STANDS_ON))
    for path in root.glob(pattern)
    if path.is_file()
)
sources = sorted(
    path
    for room in (*layout_rooms.CODE, "scripts")
    for path in (root / room).rglob("*")
    if path.is_file() and path != pathlib.Path(__file__).resolve()
)
rooms = {path.name for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")}
rooms -= {"build"}


def text_of(path):
    return path.read_text(encoding="utf-8", errors="replace")


def problem(path, what):
    problems.append(f"{path.relative_to(root)}: {what}")


def code_spans(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return re.findall(r"`([^`\n]+)`", text)


def is_there(base, path):
    """Whether a path exists, from the document or from the root; braces and * may stand in it."""
    braces = re.search(r"\{([^}]*)\}", path)
    if braces:
        return all(
            is_there(base, path.replace(braces.group(0), each, 1))
            for each in braces.group(1).split(",")
        )
    for start in (base, root):
        if "*" in path:
            if any(start.glob(path)):
                return True
        elif (start / path).exists():
            return True
    return False


def check_paths(document):
    text = text_of(document)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in target and not is_there(document.parent, target):
            problem(document, f"links to {target}, which is not there")
    for span in code_spans(text):
        first = span.split("/")[0]
        looks_like_path = re.fullmatch(r"[\w.{},*+/-]+", span) and "/" in span
        if looks_like_path and first in rooms and not is_there(root, span) and not is_there(document.parent, span):
            problem(document, f"names {span}, which is not there")


def check_links_to_documents(source):
    # By its place in the sources, or by that of an installed one.
    for target in re.findall(r"\b(?:docs|share/doc/barmap)/[\w-]+\.md\b", text_of(source)):
        if not (root / "docs" / pathlib.Path(target).name).exists():
            problem(source, f"names {target}, which is not there")


def variables_in(paths):
    return {
        name
        for path in paths
        if path.suffix in (".cpp", ".hpp") or root / "python" in path.parents
        for name in re.findall(r'"(BARMAP_[A-Z0-9_]+)"', text_of(path))
    }


def options_of_cmake():
    """What a user of CMake may set."""
    lists = [root / "CMakeLists.txt", *root.glob("packaging/CMakeLists.txt"), root / "packaging/ptx.cmake", *root.glob("core/src/**/CMakeLists.txt")]
    pattern = r"(?:\boption\(|\bfind_path\(|\bset\()(BARMAP_[A-Z0-9_]+)\b(?=[^)]*(?:\"|CACHE|REQUIRED))"
    return {name for path in lists for name in re.findall(pattern, text_of(path))}


def check_packages():
    """The README and docs/install.md install the same packages."""
    lists = {}
    for document in (root / "README.md", root / "docs" / "install.md"):
        command = re.search(r"^scripts/packages ([^#\n]*)", text_of(document).replace("\\\n", " "), flags=re.M)
        lists[document] = sorted(command.group(1).split()) if command else []
    readme, install = lists
    if not lists[readme] or lists[readme] != lists[install]:
        problem(install, f"installs {lists[install]}, and the README {lists[readme]}")


def check_variables():
    read_by_library = variables_in(p for p in sources if (root / "core/src") in p.parents)
    options = options_of_cmake()
    headers = [path for path in sources if root / "core/include" in path.parents]
    known = variables_in(sources) | options | {
        name
        for path in [root / "CMakeLists.txt", root / "packaging" / "addresses", *headers]
        for name in re.findall(r"\bBARMAP_[A-Z0-9_]+", text_of(path))
    }
    for document in documents:
        for name in sorted(set(re.findall(r"\bBARMAP_[A-Z0-9]+(?:_[A-Z0-9]+)*\b(?!_?\*|\.\d)", text_of(document)))):
            if name not in known:
                problem(document, f"names the variable {name}, which nothing reads")
    install = text_of(root / "docs" / "install.md")
    for name in sorted(options):
        if f"`{name}`" not in install:
            problem(root / "docs" / "install.md", f"does not name CMake's option {name}")
    page = root / "docs" / "environment.md"
    documented = set(re.findall(r"`(BARMAP_[A-Z0-9_]+)`", text_of(page)))
    for name in sorted(read_by_library - documented):
        problem(page, f"does not name the variable {name}, which the library reads")
    for name, default in re.findall(r'\{"(BARMAP_\w+)", "([^"]+)",', text_of(root / "core/src/base/config.cpp")):
        if f"| `{name}` | {default} |" not in text_of(page):
            problem(page, f"does not have the default of {name}: {default}")


def check_subcommands():
    known = {"plot", "help", "version"}  # which the program hands to Python, and what it takes as options
    for source in sorted((root / "program").rglob("*.cpp")):
        known.update(re.findall(r"\bprogram\s*\.add\(\s*\"([a-z]+)\"", text_of(source)))
    if len(known) < 10:
        problem(root / "program", f"its subcommands are not found: {sorted(known)}")
    named = set()
    for document in documents:
        spans = code_spans(text_of(document)) + re.findall(
            r"^```(?:sh|console|text)\n(.*?)^```", text_of(document), flags=re.M | re.S
        )
        for span in spans:
            for name in re.findall(r"(?:^|[/\s])barmap ([a-z]+)\b(?!\.)", span):
                named.add(name)
                if name not in known:
                    problem(document, f"names `barmap {name}`, which is no subcommand")
    for name in sorted(known - named):
        problem(root / "README.md", f"no document names the subcommand {name}")


def check_presets_and_labels():
    presets = {
        preset["name"] for preset in json.loads(text_of(root / "CMakePresets.json"))["configurePresets"]
    }
    labels = {
        label
        for path in sources
        if path.name == "CMakeLists.txt"
        for value in re.findall(r'LABELS\s+"?([\w;]+)', text_of(path))
        for label in value.split(";")
    }
    for document in documents:
        text = text_of(document)
        for name in re.findall(r"--preset[ =](\w+)", text):
            if name not in presets:
                problem(document, f"names the preset {name}, which is not there")
        for name in re.findall(r"ctest [^\n`]*-L (\w+)", text):
            if name not in labels:
                problem(document, f"names the ctest label {name}, which no test has")


def check_rules():
    ordering = root / "docs" / "ordering.md"
    numbered = re.findall(r"^\*\*(O\d+)\b", text_of(ordering), flags=re.M)
    # A number that was given is not given again, so that some may be missing.
    if numbered != sorted(set(numbered), key=lambda rule: int(rule[1:])):
        problem(ordering, f"the rules are not in the order of their numbers: {numbered}")
    for path in [*documents, *sources]:
        for rule in set(re.findall(r"\bordering\.md[^\n]{0,20}\b(O\d+)\b", text_of(path))):
            if rule not in numbered:
                problem(path, f"quotes rule {rule}, which docs/ordering.md does not have")


def check_workflows():
    """What continuous integration calls is there."""
    for workflow in (root / ".github" / "workflows").glob("*.yml"):
        for path in re.findall(r"(?<![\w/])(?:\w+/)*(?:scripts|tests|packaging)/[\w./-]+", text_of(workflow)):
            if not (root / path).exists():
                problem(workflow, f"calls {path}, which is not there")


def rows_of_table(text, head):
    """The cells below each table whose first line begins with a head: by the names of the columns."""
    for table in re.findall(rf"^{re.escape(head)}.*\n(?:\|.*\n)+", text, flags=re.M):
        names, _, *rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines()]
        yield from ((names, cells) for cells in rows)


def results_in(name, machine="h200-580.159.04"):
    path = root / "docs" / "results" / machine / name
    return list(csv.DictReader(line for line in text_of(path).splitlines() if not line.startswith("#")))


def expect_figure(document, shown, result):
    """A figure of a document is the result, rounded to the digits that it has."""
    value = float(re.match(r"[\d.]+", shown).group())
    if abs(value - result) > 0.0051 * result:
        problem(document, f"shows {shown}, where the result is {result:.4g}")


def ratios_in(name, ours, theirs_to_gpu, theirs_from_gpu):
    """Their time over ours by direction and bytes."""
    return {("d2h" if row["direction"] == "from" else "h2d", int(row["bytes"])):
            float(row[theirs_from_gpu if row["direction"] == "from" else theirs_to_gpu]) / float(row[ours])
            for row in results_in(name) if row["direction"]}


def check_figures():
    """The figures of one copy and of UCX are those of the results."""
    units = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}
    methods = {"barmap": "adaptive", "cuMemcpy": "cuMemcpy"}
    times = {}
    for row in results_in("lat-engines.csv"):
        if row["measurement"] == "copy":
            for method, column in methods.items():
                if row[column]:
                    times[row["direction"], int(row["size"]), row["host"], method] = float(row[column]) * 1e-3
    ratios = {"gdrcopy / barmap": ratios_in("copy-cost.csv", "ours_ns", "theirs_ns", "theirs_ns"),
              "vkgdr / barmap": ratios_in("vkgdr-cost.csv", "adaptive_ns", "memcpy_fenced_ns", "memcpy_ns")}
    seen = 0
    readme, page = root / "README.md", root / "docs" / "benchmarks.md"
    tables = [(readme, "| H200, pinned host memory", None), (page, "| CPU to GPU", "h2d"), (page, "| GPU to CPU", "d2h")]
    for document, head, direction in tables:
        for names, (what, *shown) in rows_of_table(text_of(document), head):
            if not what[0].isdigit():
                continue
            number, unit = what.split()[:2]
            way = direction or ("h2d" if "to the GPU" in what else "d2h")
            host = "pinned"
            for name, figure in zip(names[1:], shown, strict=True):
                method, _, column_host = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", name).partition(", ")
                host = column_host or host
                if method in ratios:
                    expect_figure(document, figure, ratios[method][way, int(number) * units[unit]])
                    seen += 1
                    continue
                expect_figure(document, figure, times[way, int(number) * units[unit], host, method])
                seen += 1
    for _, cells in rows_of_table(text_of(readme), "| client"):
        if cells[0].startswith("[UCX"):
            for figure, with_it in zip(cells[2:], ("true", "false"), strict=True):
                (row,) = [each for each in results_in("clients.csv")
                          if (each["program"], each["size"], each["processes"], each["gdr_copy"]) ==
                          ("ucx_perftest", "8", "2", with_it)]
                expect_figure(readme, figure, float(row["p50_us"]))
                seen += 1
    if seen != 4 * 3 + 4 * 5 * 2 + 2:
        problem(readme, f"its figures are not found: {seen}")
    for line in re.findall(r"^\|.*\|$", text_of(readme), flags=re.M):
        for cell in line.strip("|").split("|"):
            cell = re.sub(r"`[^`]*`|\[[^\]]*\]\([^)]*\)|H[12]00", "", cell)
            if len(re.findall(r"\d[\d.,]*", cell)) > 1:
                problem(readme, f"has a cell with more than one number: {cell.strip()}")


def check_engine_figures():
    """The figures of whole vLLM engines are those of the results."""
    medians = {(row["shape"], row["figure"], row["tokens"], row["mover"]): float(row["median"])
               for row in results_in("vllm-engine.csv", "h100-580.159.04")}
    readme, page = root / "README.md", root / "docs" / "batches.md"
    figures = [("TTFT cold, stored", "8k"), ("TTFT restored", "8k"), ("TTFT restored", "32k"), ("mixed: a round", ""),
               ("store call of 1024 blocks or more, mixed", "")]
    columns = [(shape, mover) for shape in ("L8B", "T70", "MLA") for mover in ("vllm", "barmap")]
    rows = [cells for _, cells in rows_of_table(text_of(page), "| pages of | 64 KiB: vLLM")]
    for (_, *shown), (figure, tokens) in zip(rows, figures, strict=True):
        for each, (shape, mover) in zip(shown, columns, strict=True):
            expect_figure(page, each, medians[shape, figure, tokens, mover])
    (shown,) = [cells[2:] for _, cells in rows_of_table(text_of(readme), "| client") if cells[0].startswith("[vLLM")]
    for each, mover in zip(shown, ("barmap", "vllm"), strict=True):
        expect_figure(readme, each, medians["MLA", "TTFT restored", "32k", mover])


def check_columns():
    """Code is no wider than the pages of the site."""
    for page in [*documents, *sorted((root / "docs" / "site").rglob("*.md"))]:
        for code in re.findall(r"^```[^`\n]*\n(.*?)^```$", text_of(page), flags=re.M | re.S):
            for line in code.splitlines():
                if len(line) > 80 and not line.startswith(":"):
                    problem(page, f"has code of {len(line)} columns: {line[:40]}...")


def check_drawings():
    drawings = subprocess.run([sys.executable, "-B", root / "docs/plots/drawings.py", "--check"],
                              capture_output=True, text=True, check=False)
    if drawings.returncode:
        problem(root / "docs" / "plots", drawings.stderr.strip())


def check_listings():
    """A listing of a page has all that the example needs from its first #include or import on."""
    pages = sorted((root / "docs" / "site").rglob("*.md"))
    listings = [(page, *found) for page in pages
                for found in re.findall(r"^```\{literalinclude\} /(\S+)\n.*?^:lines: (\d+)-\n", text_of(page),
                                        flags=re.M | re.S)]
    if len(listings) < 8:
        problem(root / "docs" / "site", "its listings are not found")
    for page, path, first in listings:
        left_out = text_of(root / path).splitlines()[:int(first) - 1]
        if any(re.match(r"#include|import |from ", line) for line in left_out):
            problem(page, f"the listing of {path} begins after an #include or import")


for each in documents:
    check_paths(each)
for each in sources:
    check_links_to_documents(each)
check_packages()
check_variables()
check_subcommands()
check_presets_and_labels()
check_rules()
check_workflows()
check_figures()
check_engine_figures()
check_columns()
check_drawings()
check_listings()

for line in problems:
    print(line)
print(f"{len(documents)} documents, {len(problems)} problems")
sys.exit(1 if problems else 0)
