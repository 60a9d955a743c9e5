# SPDX-License-Identifier: Apache-2.0
"""usage: python3 scripts/docs_site.py SITE

A part of scripts/docs. Checks that every link between pages of the site leads to a page; makes `/` lead to the front page;
gives each page its title and a search field; writes the search page with its index (Documentation/Search).
"""

import argparse
import html
import json
import pathlib
import re
import shutil
import sys

SEARCH = pathlib.Path(__file__).resolve().parents[1] / "Documentation/Search"
FRONT = "documentation/receiptkit/"
COMMANDS = re.compile(r"^documentation/receiptkit/(?:receipt-tool|receipt-server|store-emulator)(?:-|$)")
SETTINGS = "documentation/receiptkit/serversettings"
REASONS = "documentation/receiptverification/reasoncodes"
# Tables of everything that is on a wire: found by what is in them, after the pages that explain it.
REFERENCE = re.compile(r"/(?:wiretypes|commandoutput|receiptformats|conformanceresults|certifyanimplementation)$")

REDIRECT = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="0; url={FRONT}">
<link rel="canonical" href="{FRONT}">
<title>ReceiptKit documentation</title>
</head>
<body><p><a href="{FRONT}">ReceiptKit documentation</a></p></body>
</html>
"""

# DocC's pages show an element of this name above all else, in their own colours.
HEADER = """<style>
#search-field { display: flex; justify-content: flex-end; gap: .5rem; padding: .4rem 1rem; font: 14px/1.4 system-ui, sans-serif;
  background: var(--color-fill-secondary); border-bottom: 1px solid var(--color-grid); }
#search-field a { margin-right: auto; align-self: center; color: var(--color-link); }
#search-field input { width: 16rem; min-width: 6rem; flex: 0 1 auto; }
#search-field input, #search-field button { font: inherit; padding: .2rem .6rem; border: 1px solid #8e8e93;
  border-radius: .4rem; background: var(--color-fill); color: var(--color-text); }
#search-field :focus-visible { outline: 2px solid var(--color-link); outline-offset: 1px; }
</style><script>
customElements.define("custom-header", class extends HTMLElement {
  connectedCallback() {
    this.innerHTML = `<form id="search-field" role="search" action="${baseUrl}search/"><a href="${baseUrl}documentation/receiptkit/"
      >ReceiptKit</a><input name="q" type="search" aria-label="Search the documentation" placeholder="Search"
      ><button>Search</button></form>`;
  }
});
</script>"""


class Text:
    """The text of a page's content, as it is read."""

    def __init__(self, references):
        self.references = references

    def of(self, node) -> str:
        if isinstance(node, list):
            return "".join(map(self.of, node))
        kind = node.get("type")
        if kind == "reference":
            return self.references.get(node["identifier"], {}).get("title", "")
        if kind == "codeListing":
            return "\n".join(node["code"]) + " "
        parts = [node.get("text", ""), node.get("code", "")]
        parts += [self.of(node[key]) for key in ("inlineContent", "content", "items", "columns") if key in node]
        if kind == "table":
            parts += [self.of(cell) + " " for row in node["rows"] for cell in row]
        # Blocks are apart from each other, inline text is not.
        return "".join(parts) + (" " if kind in ("paragraph", "heading", "aside") or kind is None else "")

    def emphasized(self, node) -> list[str]:
        """What stands in bold, as the beginnings of the points of a list do: like headings."""
        if isinstance(node, list):
            return [text for each in node for text in self.emphasized(each)]
        if node.get("type") == "strong":
            return [self.clean(node["inlineContent"])]
        return [text for key in ("inlineContent", "content", "items") for text in self.emphasized(node.get(key, []))]

    def clean(self, node) -> str:
        return " ".join(self.of(node).split())


class Site:
    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.pages = {}
        for path in sorted(folder.glob("data/**/*.json")):
            self.pages[str(path.relative_to(folder / "data").with_suffix(""))] = json.loads(path.read_text())

    def dead_links(self) -> list[str]:
        known = {"/" + name.lower() for name in self.pages}
        return sorted(
            f"{name}: dead link {reference['url']}"
            for name, page in self.pages.items()
            for reference in page.get("references", {}).values()
            if reference.get("type") in ("topic", "link") and reference.get("url", "").startswith("/")
            and reference["url"].split("#")[0].rstrip("/").lower() not in known
        )  # fmt: skip

    def index(self) -> list[list]:
        """The entries of the search: kind, title, address, page, text, names."""
        entries, options = [], {}
        for name, page in self.pages.items():
            title, text = page["metadata"].get("title", ""), Text(page.get("references", {}))
            address, abstract = f"{name.lower()}/", text.clean(page.get("abstract", []))
            contents = [s["content"] for s in page.get("primaryContentSections", []) if s["kind"] == "content"]
            is_module = page["metadata"].get("symbolKind") == "module"
            if page["kind"] == "symbol" and not is_module:
                paths = page.get("hierarchy", {}).get("paths", [[]])
                parents = [page["references"][each]["title"] for each in paths[0] if each in page["references"]]
                entries.append(["symbol", title, address, ".".join([*parents[:1], *parents[1:][-1:]]), abstract])
                continue
            if title.endswith(" Implementations") and not contents:
                continue
            is_command = bool(COMMANDS.match(name))
            kind, part = ("command", "command") if is_command else ("article", "section")
            if REFERENCE.search(name):
                kind = part = "reference"
            own, place, heading = [kind, title, address, "", [abstract], []], address, title
            entries.append(own)
            for node in [node for content in contents for node in content]:
                if node["type"] == "heading" and node["text"] != "Overview":
                    place, heading = f"{address}#{node['anchor']}", node["text"]
                    own = [part, heading, place, title, [], []]
                    entries.append(own)
                    continue
                if node["type"] == "table" and name in (SETTINGS, REASONS):
                    for row in node["rows"][1:]:
                        code, *cells = [text.clean(cell) for cell in row]
                        found = "setting" if name == SETTINGS else "reason code"
                        entries.append([found, code, place, title, " ".join(filter(None, cells))])
                    continue
                own[4].append(text.clean(node))
                # What a table is about stands in its first column.
                own[5] += [text.clean(row[0]) for row in node["rows"][1:]] if node["type"] == "table" else text.emphasized(node)
                if node["type"] == "unorderedList" and is_command:
                    for item in node["items"]:
                        option, _, meaning = text.clean(item["content"]).partition(": ")
                        if option.startswith("-"):
                            options.setdefault((option, meaning), []).append((heading, place))
        for (option, meaning), places in options.items():
            # Options that several commands have stand once, at the command with the shortest name.
            place = min(places, key=lambda place: (place[0].count(" "), places.index(place)))
            commands = ", ".join(dict.fromkeys(heading for heading, _ in places))
            entries.append(["option", option, place[1], place[0], f"{meaning} ({commands})"])
        return [[*entry[:4], *(" ".join(part) if isinstance(part, list) else part for part in entry[4:])] for entry in entries]

    def write_search(self) -> str:
        search = self.folder / "search"
        shutil.copytree(SEARCH, search, dirs_exist_ok=True)
        entries = self.index()
        text = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
        (search / "index.json").write_text(text)
        return f"{len(entries)} entries, {len(text.encode()) // 1000} kB"

    def write_pages(self) -> None:
        titles = {name.lower(): page["metadata"].get("title", "") for name, page in self.pages.items()}
        for path in self.folder.glob("documentation/**/index.html"):
            text, title = path.read_text(), titles.get(str(path.relative_to(self.folder).parent).lower(), "")
            shown = html.escape(f"{title} · ReceiptKit" if title and title != "ReceiptKit" else "ReceiptKit")
            path.write_text(re.sub(r"<title>.*?</title>", lambda _: f"<title>{shown}</title>", text, count=1)
                            .replace("</head>", HEADER + "</head>", 1))  # fmt: skip
        (self.folder / "index.html").write_text(REDIRECT)


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__.splitlines()[0].removeprefix("usage: "))
    parser.add_argument("site", type=pathlib.Path)
    site = Site(parser.parse_args().site)
    if not site.pages or (dead := site.dead_links()):
        sys.exit("\n".join(f"docs: {line}" for line in dead) if site.pages else "docs: the site has no pages")
    site.write_pages()
    print(f"docs: {site.folder}: {len(site.pages)} pages, no dead link; search: {site.write_search()}", file=sys.stderr)


main()
