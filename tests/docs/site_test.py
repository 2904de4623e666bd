#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The documentation as readers meet it: opened as files, in headless Chromium, on a desktop and on a phone.

Every page opens without an error in the console and is no wider than the window, every internal link and
anchor is there, pages can be reached from the first one, no code is cut on a phone, and the search finds what
is documented and shows it. Exits with 77 where there is no documentation or no browser.

Usage: site_test.py DIRECTORY [unittest's arguments]        goes on in the Python that scripts/docs has made
"""

import os
import pathlib
import shutil
import sys
import tempfile
import unittest
import urllib.parse

SITE = pathlib.Path()  # set from the command line
WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}
SKIPPED = 77

try:
    from bs4 import BeautifulSoup
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError as missing:
    made = pathlib.Path(sys.argv[1]).resolve().parent / "venv" / "bin" / "python"
    if made.exists() and pathlib.Path(sys.prefix) != made.parent.parent:
        os.environ["PYTHONPYCACHEPREFIX"] = str(made.parents[2] / "bytecode")  # as scripts/docs does
        os.execv(made, [made, *sys.argv])
    print(f"skipped: {missing}; scripts/docs makes a Python that has it")
    sys.exit(SKIPPED)


def find_browser():
    """The program of a browser, and its driver's; None where there is none."""
    browsers = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    browser = next((path for path in browsers if path), None)
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


def start_browser():
    program, driver = find_browser()
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--allow-file-access-from-files"):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # which refuses to start as root
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(driver))


def resize(browser, width, height):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})


class Pages:
    """What a site's files say of each other."""

    def __init__(self, site):
        self.site = site.resolve()
        self.parsed = {path: BeautifulSoup(path.read_text(), "html.parser") for path in sorted(self.site.rglob("*.html"))
                       if "_static" not in path.parts and "_downloads" not in path.parts}

    def links(self, page):
        """Each internal link of a page: as it is written, its file, and its anchor."""
        for element in self.parsed[page].find_all(["a", "link", "script", "img", "source"]):
            link = element.get("href") or element.get("src") or element.get("srcset")
            parts = urllib.parse.urlsplit(link or "")
            if link is None or parts.scheme or parts.netloc:
                continue
            path = (page.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else page
            yield link, path, urllib.parse.unquote(parts.fragment)

    def broken_links(self):
        anchors = {path: {each["id"] for each in page.find_all(id=True)} for path, page in self.parsed.items()}
        broken = []
        for page in self.parsed:
            for link, path, anchor in self.links(page):
                if not path.is_file():
                    broken.append(f"{page.name}: {link} is not there")
                elif anchor and path in anchors and anchor not in anchors[path] | {"", "top"}:
                    broken.append(f"{page.name}: {link} has no such anchor")
        return broken

    def unreachable(self):
        first = self.site / "index.html"
        seen, left = {first}, [first]
        while left:
            found = {path for _, path, _ in self.links(left.pop()) if path in self.parsed} - seen
            seen |= found
            left += found
        return sorted(str(path.relative_to(self.site)) for path in set(self.parsed) - seen)


def look_at(browser, page):
    """What is wrong with one page in the browser, a sentence for each."""
    problems = []
    browser.get(page.as_uri())
    for name, size in WIDTHS.items():
        resize(browser, *size)
        wide, window = browser.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
        if wide > size[0] or window > size[0]:
            problems.append(f"{page.name}: {max(wide, window)} pixels wide on a {name} of {size[0]}")
        if name == "phone":  # which shows no scroll bars
            cut = browser.execute_script("return [...document.querySelectorAll('pre')].filter("
                                         "p => p.scrollWidth > p.clientWidth).map(p => p.textContent.split('\\n')[0])")
            problems += [f"{page.name}: code is cut on a phone: {each}" for each in cut]
    unseen = browser.execute_script("return [...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)")
    problems += [f"{page.name}: the image {each} cannot be shown" for each in unseen]
    problems += [f"{page.name}: {entry['message']}" for entry in browser.get_log("browser")
                 if entry["level"] in ("SEVERE", "WARNING")]
    return problems


class TheSite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = start_browser()
        cls.addClassCleanup(cls.browser.quit)
        cls.pages = Pages(SITE)

    def test_links_and_anchors_are_there(self):
        self.assertEqual([], self.pages.broken_links())

    def test_pages_can_be_reached(self):
        self.assertEqual([], self.pages.unreachable())

    def test_pages_open(self):
        self.assertGreater(len(self.pages.parsed), 30)
        problems = [each for page in self.pages.parsed for each in look_at(self.browser, page)]
        self.assertEqual([], problems)

    def search(self, word):
        self.browser.get((SITE / "search.html").resolve().as_uri() + "?q=" + word)
        WebDriverWait(self.browser, 20).until(
            lambda browser: "Search finished" in browser.find_element(By.ID, "search-results").text
            or "did not match" in browser.find_element(By.ID, "search-results").text)
        found = self.browser.find_elements(By.CSS_SELECTOR, "#search-results ul.search a")
        return {each.get_attribute("href").rpartition("html/")[2] for each in found}

    def test_search(self):
        found = " ".join(self.search("post"))
        self.assertIn("reference/cpp.html", found)
        self.assertIn("docs/ordering.html", found)
        self.assertEqual(set(), self.search("nosuchwordanywhere"))

    def test_search_shows_what_pages_say(self):
        self.search("doorbell")
        pages = self.browser.find_elements(By.CSS_SELECTOR, "#search-results li.kind-text, #search-results li.kind-title")
        self.assertGreater(len(pages), 5)
        said = WebDriverWait(self.browser, 20).until(
            lambda browser: len(found := [p.text for p in browser.find_elements(By.CSS_SELECTOR, "#search-results p.context")])
            == len(pages) and found)
        self.assertEqual([], [each for each in said if "doorbell" not in each.lower()])
        self.assertEqual([], [each["message"] for each in self.browser.get_log("browser")])

    def test_light_and_dark(self):
        colours = []
        for scheme in ("light", "dark"):
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                         {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            self.browser.get((SITE / "index.html").resolve().as_uri())
            colours.append(self.browser.execute_script("return getComputedStyle(document.body).backgroundColor"))
        self.assertNotEqual(*colours)

    def test_what_is_wrong_is_found(self):
        body = {"index": '<a href="there.html">a</a><a href="there.html#here">b</a><a id="top" href="#top">c</a>',
                "there": '<p id="here"></p>',
                "gone": '<a href="nowhere.html">a</a>',
                "anchor": '<a href="there.html#nowhere">a</a>',
                "wide": '<div style="width: 700px">a</div>',
                "code": f'<pre style="overflow-x: auto">{"long " * 40}\nb</pre>',
                "error": "<script>throw new Error('on purpose')</script>",
                "image": '<img src="nowhere.png">'}
        with tempfile.TemporaryDirectory() as name:
            site = pathlib.Path(name).resolve()
            for page, text in body.items():
                head = '<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">'
                (site / f"{page}.html").write_text(f"<!doctype html><html><head>{head}</head><body>{text}</body></html>")
            pages = Pages(site)
            self.assertEqual(["anchor.html: there.html#nowhere has no such anchor", "gone.html: nowhere.html is not there",
                              "image.html: nowhere.png is not there"], pages.broken_links())
            self.assertEqual({f"{each}.html" for each in body} - {"index.html", "there.html"}, set(pages.unreachable()))
            seen = {page: "\n".join(look_at(self.browser, site / f"{page}.html")) for page in body}
        self.assertEqual({"index": "", "there": "", "gone": "", "anchor": ""},
                         {page: seen[page] for page in ("index", "there", "gone", "anchor")})
        self.assertRegex(seen["wide"], "pixels wide on a phone of 390")
        self.assertRegex(seen["code"], "code is cut on a phone: long long")
        self.assertIn("on purpose", seen["error"])
        self.assertIn("cannot be shown", seen["image"])


if __name__ == "__main__":
    SITE = pathlib.Path(sys.argv.pop(1))
    if not (SITE / "index.html").is_file():
        print(f"skipped: no documentation in {SITE}: scripts/docs builds it")
        sys.exit(SKIPPED)
    if find_browser() is None:
        print("skipped: no Chromium with its chromedriver is here (Debian's packages chromium and chromium-driver)")
        sys.exit(SKIPPED)
    unittest.main()
