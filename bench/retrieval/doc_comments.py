"""Doc comments of public items of Rust source files as sections. Reads lines; does not parse Rust."""

import html
import re

from sections import Section, squeeze

ITEM = re.compile(r"(?P<indent>\s*)(?P<public>pub )?(?:default |const |async |unsafe |extern \"C\" )*"
                  r"(?P<kind>fn|struct|enum|trait|type|mod|macro_rules!|static|const) ?(?P<name>\w+)")
OWNER = re.compile(r"(?P<public>pub )?(?:unsafe )?(?P<kind>trait|impl|struct|enum)\b(?P<rest>[^{]*)")


def owner_of(rest, kind):
    if kind != "impl":
        return re.match(r"\s*(\w+)", rest).group(1) if re.match(r"\s*(\w+)", rest) else None
    rest = re.sub(r"^<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>", "", rest.strip()).strip()
    if " for " in rest:
        return None  # the trait's own documentation says it better
    name = re.match(r"(?:\w+::)*(\w+)", rest)
    return name.group(1) if name else None


def sections_of_source(path, module):
    """The documented public items of one source file, as sections."""
    header, comment, owner, owner_public, in_header, attribute = [], [], None, False, True, 0
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        bare = line.strip()
        if bare.startswith("//!") and in_header:
            header.append(bare[3:].removeprefix(" "))
            continue
        if bare.startswith("///") and not bare.startswith("////"):
            in_header = False
            comment.append(bare[3:].removeprefix(" "))
            continue
        if attribute or bare.startswith("#[") or bare.startswith("#!["):
            attribute += line.count("[") - line.count("]")
            continue
        if not bare or bare.startswith("//"):
            continue
        in_header = False
        found = OWNER.match(line)
        if found:
            owner = owner_of(found["rest"], found["kind"])
            owner_public = found["kind"] == "trait" and bool(found["public"])
        item = ITEM.match(line)
        if comment and item and item["kind"] != "mod":
            nested = len(item["indent"]) == 4 and item["kind"] == "fn"
            public = item["public"] or (nested and owner_public) or item["kind"] == "macro_rules!"
            if public and (not item["indent"] or nested and owner):
                name = item["name"] + ("!" if item["kind"] == "macro_rules!" else "")
                full = f"{module}::{owner}::{name}" if nested else f"{module}::{name}"
                yield from sections_of_markdown(comment, [full], by_heading=False)
        comment = []
    yield from sections_of_markdown(header, [module], by_heading=True)


def sections_of_markdown(lines, titles, by_heading):
    section = Section(titles)
    text, code, fence = [], [], None

    def paragraph():
        plain = plain_text(" ".join(text))
        text.clear()
        if plain:
            section.paragraphs.append((plain, False))

    for line in lines:
        bare = line.strip()
        if fence:
            if bare.startswith(fence):
                fence = None
                if code:
                    section.paragraphs.append(("\n".join(code), True))
                code = []
            elif bare != "#" and not bare.startswith("# "):
                code.append(line.rstrip())
        elif bare.startswith("```") or bare.startswith("~~~"):
            paragraph()
            fence, code = bare[:3], []
        elif re.match(r"\[[^\]]+\]:", bare) or bare.startswith("|") or bare and not plain_text(bare):
            paragraph()
        elif bare.startswith("#"):
            paragraph()
            name = plain_text(bare.lstrip("# "))
            if by_heading:
                yield section
                section = Section(titles + [name])
            elif name.lower() not in ("example", "examples"):
                text.append(f"{name}:")
        elif not bare:
            paragraph()
        elif re.match(r"(?:[*+-]|\d+\.) ", bare):
            paragraph()
            text.append("- " + re.sub(r"^(?:[*+-]|\d+\.) ", "", bare))
        else:
            text.append(bare)
    paragraph()
    yield section


def plain_text(text):
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\[([^\]]+)\]\[[^\]]*\]", r"\1", text)
    text = re.sub(r"\[(`[^\]]+`)\]", r"\1", text)
    text = re.sub(r"</?(?:div|span|p|br|b|i|a|pre|code|details|summary|sup|em|strong|img)\b[^>]*>", "", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"\1", text)
    text = re.sub(r"(?<![\w*])[*_]([^*_`]+)[*_](?![\w*])", r"\1", text)
    return squeeze(html.unescape(text.replace("`", "")))
