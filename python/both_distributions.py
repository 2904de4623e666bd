# SPDX-License-Identifier: MIT
"""pip's way to build this directory: an empty distribution that depends on the two of this repository, by their places."""

import pathlib
import re
import zipfile

_HERE = pathlib.Path(__file__).resolve().parent
_NAME = "barmap_and_compat"


def _version():
    text = (_HERE.parent / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"^project\(barmap VERSION ([\d.]+)", text, re.MULTILINE).group(1)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    version = _version()
    info = f"{_NAME}-{version}.dist-info"
    files = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {_NAME.replace('_', '-')}\nVersion: {version}\n"
                            "Summary: barmap and barmap-compat, built from one copy of their sources\n"
                            f"Requires-Dist: barmap @ {_HERE.parent.as_uri()}\n"
                            f"Requires-Dist: barmap-compat @ {(_HERE / 'compat').as_uri()}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: barmap\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    name = f"{_NAME}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w") as wheel:
        for path, content in files.items():
            wheel.writestr(path, content)
    return name


build_editable = build_wheel


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError("this distribution names places of this machine: make those of . and of python/compat instead")
