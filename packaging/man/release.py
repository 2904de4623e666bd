# SPDX-License-Identifier: MIT
"""The version and date of the release, for its manual pages."""

import email.utils
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def version():
    return re.search(r"project\(barmap VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def date():
    """The date of the newest entry of the Debian changelog."""
    said = re.search(r"^ -- .*>  (.*)$", (ROOT / "packaging/deb/debian/changelog").read_text(), re.M).group(1)
    return email.utils.parsedate_to_datetime(said).date()
