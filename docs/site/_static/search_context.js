// SPDX-License-Identifier: MIT
// Shows below each result of a search what the page says. For that Sphinx fetches the pages, which browsers refuse for
// pages that are opened as files: these come as scripts, which conf.py writes.
if (location.protocol === "file:") {
  const asked = {};
  window.searchedPage = (name, html) => asked[name](html);
  window.fetch = (url) => {
    const name = url.slice(document.documentElement.dataset.content_root.length).replace(/\.html$/, "");
    const script = document.createElement("script");
    script.src = `_static/pages/${name}.js`;
    return new Promise((give) => {
      asked[name] = (html) => give({ text: () => html });
      document.head.append(script);
    });
  };
}
