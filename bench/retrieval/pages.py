"""Pages of HTML as sections. Knows how the manuals mark headings, terms, code and what is not text."""

import html.parser
import re

from sections import Section, squeeze

ASIDES = {"Note", "Warning", "Tip", "Caution", "Important"}  # headings that name no subject


class Page(html.parser.HTMLParser):
    """Cuts one page of HTML into sections. Tolerates paragraphs and items that are never closed."""

    BLOCKS = {"p", "div", "li", "dd", "dt", "ul", "ol", "dl", "blockquote", "tr", "hr", "center", "table",
              "section", "h"} | {f"h{level}" for level in range(1, 7)}
    UNSEEN = {"script", "style", "svg", "head", "table", "button", "nav", "form"}
    UNSEEN_CLASSES = {"nosearch", "navheader", "navfooter", "toc", "fancy_toc", "footnotes", "footnote",
                      "imgcontainer", "related", "sphinxsidebar", "footer", "refnamediv", "refsynopsisdiv",
                      "seealso", "versionchanged", "versionadded", "headerlink", "admonition-see-also",
                      "synopsis", "bibliodiv", "mobile-nav", "availability", "contents", "topic"}

    def __init__(self, title, term_paragraph=None):
        super().__init__(convert_charrefs=True)
        self.sections = []
        self.headings = {0: title}
        self.term_paragraph = term_paragraph
        self.buffer = []
        self.kind = "p"
        self.unseen = []  # open tags of what is left out
        self.lists = 0  # depth of definition lists
        self.term = None
        self.preformatted = 0
        self.begin()

    def begin(self):
        titles = [self.headings[level] for level in sorted(self.headings)]
        self.sections.append(Section(titles))

    def heading(self, level, text):
        text = squeeze(re.sub(r"[¶§]", "", text))
        if text in ASIDES:
            return
        text = re.sub(r"^(?:(?:Chapter|Appendix) )?[0-9A-Z]+(?:\.[0-9]+)*\.\s+", "", text)
        text = re.sub(r"^[0-9]+(?:\.[0-9]+)*\s+(?=[A-Z])", "", text)
        self.headings = {old: title for old, title in self.headings.items() if old < level}
        if text and text != self.headings.get(0):
            self.headings[level] = text
        self.begin()

    def flush(self):
        raw, self.buffer = "".join(self.buffer), []
        kind, self.kind = self.kind, "p"
        text = squeeze(raw.replace("¶", ""))
        if not text:
            return
        if kind.startswith("h") and kind != "hr":
            self.heading(8 if kind == "h" else int(kind[1]), text)
        elif kind == "dt":
            if self.lists == 1:
                self.heading(9, text)
            else:
                self.term = text if self.term is None else f"{self.term}, {text}"
        elif kind == "pre":
            self.sections[-1].paragraphs.append((raw.strip("\n"), True))
        elif self.term_paragraph and self.term_paragraph.match(text):
            self.heading(9, text)
        else:
            if self.term:
                text, self.term = f"{self.term}: {text}", None
            if kind == "li":
                text = f"- {text}"
            self.sections[-1].paragraphs.append((text, False))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        classes = set((attributes.get("class") or "").split())
        if self.unseen:
            if tag == self.unseen[0]:
                self.unseen.append(tag)
            return
        if tag in self.UNSEEN or classes & self.UNSEEN_CLASSES:
            if tag not in ("a", "span", "button"):
                self.flush()
            self.unseen.append(tag)
            return
        if tag == "pre":
            self.flush()
            self.kind = "pre"
            self.preformatted += 1
        elif tag in self.BLOCKS and not self.preformatted:
            kind = self.kind
            self.flush()
            # A paragraph that opens inside an item is still that item.
            self.kind = "li" if tag == "p" and kind == "li" else tag
            if tag == "dl":
                self.lists += 1
        elif tag == "br":
            self.buffer.append("\n" if self.preformatted else " ")

    def handle_endtag(self, tag):
        if self.unseen:
            if tag == self.unseen[0]:
                self.unseen.pop()
            return
        if tag == "pre" and self.preformatted:
            self.flush()
            self.preformatted -= 1
        elif tag in self.BLOCKS and not self.preformatted:
            self.flush()
            if tag == "dl" and self.lists:
                self.lists -= 1
                self.term = None
                if self.lists == 0 and 9 in self.headings:
                    del self.headings[9]
                    self.begin()

    def handle_data(self, data):
        if not self.unseen:
            self.buffer.append(data)

    def close(self):
        super().close()
        self.flush()


def sections_of_page(path, title, term_paragraph=None):
    page = Page(title, term_paragraph)
    page.feed(path.read_text(encoding="utf-8", errors="replace"))
    page.close()
    return page.sections
