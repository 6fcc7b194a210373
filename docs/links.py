"""The links of a built site: which lead nowhere, and how many clicks a page is away from another."""

from collections import deque
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links, the anchors and what is loaded by one page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors |= {attrs[name] for name in ("id", "name") if attrs.get(name)}
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        address = attrs.get("src") or (attrs.get("href") if tag == "link" else None)
        if address:
            self.loads.append(address)


def read(html):
    """{path below the folder `html`: its page}"""
    html = Path(html).resolve()
    found = [path for path in sorted(html.rglob("*.html")) if "_static" not in path.relative_to(html).parts]
    return {str(path.relative_to(html)): Page(path.read_text(errors="replace")) for path in found}


def target_of(html, page, link):
    """(path below `html`, anchor) of a link on a page; None for an address elsewhere."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    html = Path(html).resolve()
    path = (html / page).parent / unquote(parts.path) if parts.path else html / page
    path = path.resolve()
    return (str(path.relative_to(html)) if path.is_relative_to(html) else str(path)), unquote(parts.fragment)


def broken(html):
    """Sentences on links within the site that lead nowhere, and on anything that a page would load from elsewhere."""
    html, found = Path(html).resolve(), []
    pages = read(html)
    for name, page in pages.items():
        for link in [*page.links, *page.loads]:
            target = target_of(html, name, link)
            if target is None:
                if link in page.loads and not link.startswith("data:"):
                    found.append(f"{name} loads {link} from elsewhere")
                continue
            path, anchor = target
            if not (html / path).is_file():
                found.append(f"{name} points to {link}, which is not there")
            elif anchor and path in pages and anchor not in pages[path].anchors:
                found.append(f"{name} points to {link}, and {path} has no such anchor")
    return sorted(set(found))


def clicks(html, start="index.html", without=()):
    """{page: clicks from `start`}, over links on the pages other than those in `without`."""
    pages = read(html)
    away, queue = {start: 0}, deque([start])
    while queue:
        name = queue.popleft()
        if name in without:
            continue
        for link in pages[name].links:
            target = target_of(html, name, link)
            if target and target[0] in pages and target[0] not in away:
                away[target[0]] = away[name] + 1
                queue.append(target[0])
    return away
