// Answers questions about a page. It runs in an isolated world: it sees the page's document, and the
// page's scripts cannot see or change it. Everything that is returned is cut here, so that a page of
// any size becomes an answer of bounded size.

const MAX_NODE_COUNT = 200000;

/** All elements, those behind open shadow roots included, up to a bound. */
function* elements(root) {
  let seen = 0;
  const open = [root];
  while (open.length) {
    const walker = document.createTreeWalker(open.pop(), NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (++seen > MAX_NODE_COUNT) return;
      yield node;
      if (node.shadowRoot) open.push(node.shadowRoot);
    }
  }
}

function isVisible(element) {
  return element.checkVisibility({ checkOpacity: false, checkVisibilityCSS: true });
}

/** Collects text between two positions, and counts the rest. */
class Window {
  constructor(offset, limit) {
    this.offset = offset;
    this.end = offset + limit;
    this.total = 0;
    this.kept = [];
  }
  line(text) {
    // A very long line is cut before it is processed.
    if (text.length > 1000000) {
      this.rest(text.length - 1000000);
      text = text.slice(0, 1000000);
    }
    const begin = this.total;
    this.total += text.length + 1;
    if (this.total > this.offset && begin < this.end) {
      this.kept.push(text.slice(Math.max(0, this.offset - begin), this.end - begin));
    }
  }
  rest(length) { this.total += length; }
  result() { return { text: this.kept.join("\n"), total: this.total }; }
}

const squeeze = (text) => text.replace(/[ \t\r\n\f]+/g, " ").trim();

const SKIPPED = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "SVG", "svg", "CANVAS", "VIDEO",
  "AUDIO", "OBJECT", "EMBED", "HEAD", "SELECT", "TEXTAREA", "INPUT", "IFRAME", "BUTTON"]);
const ASIDE = new Set(["NAV", "FOOTER", "ASIDE", "DIALOG"]);
const ASIDE_ROLES = new Set(["navigation", "banner", "contentinfo", "complementary", "search"]);
const BLOCKS = new Set(["P", "DIV", "SECTION", "ARTICLE", "MAIN", "UL", "OL", "LI", "DL", "DT", "DD",
  "H1", "H2", "H3", "H4", "H5", "H6", "TABLE", "TR", "BLOCKQUOTE", "PRE", "FIGURE", "FIGCAPTION",
  "HEADER", "FOOTER", "NAV", "ASIDE", "FORM", "FIELDSET", "ADDRESS", "HR", "DETAILS", "SUMMARY", "BODY"]);

/** The part of the document that is the article: what most of the paragraphs are in. */
function articleRoot() {
  const named = [...document.querySelectorAll("main, [role=main], article")].slice(0, 50);
  const length = (element) => {
    let sum = 0;
    for (const part of [...element.querySelectorAll("p, li, pre, td, dd")].slice(0, 500)) {
      sum += Math.min(part.textContent.length, 2000);
    }
    return sum;
  };
  let best = null, most = 0;
  for (const element of named) {
    const own = length(element);
    if (own > most) { best = element; most = own; }
  }
  const all = document.body ? length(document.body) : 0;
  return best && most * 3 >= all ? best : document.body;
}

/** Writes the readable content below a node, block by block. */
function write(root, out, isArticle) {
  let inline = "", nodes = 0;
  const flush = (prefix = "") => {
    const text = squeeze(inline);
    inline = "";
    if (text) out.line(prefix + text);
  };
  const visit = (node, prefix) => {
    if (++nodes > MAX_NODE_COUNT) return;
    if (node.nodeType === Node.TEXT_NODE) {
      if (node.length > 1000000) out.rest(node.length - 1000000);
      inline += node.length > 1000000 ? node.substringData(0, 1000000) : node.data;
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE && node.nodeType !== Node.DOCUMENT_FRAGMENT_NODE) return;
    const tag = node.tagName || "";
    if (SKIPPED.has(tag) || (tag && !isVisible(node) && tag !== "BODY")) return;
    if (isArticle && node !== root && (ASIDE.has(tag) || ASIDE_ROLES.has(node.getAttribute?.("role")))) return;
    if (tag === "BR") { flush(prefix); return; }
    if (tag === "IMG") { if (node.alt) inline += ` [image: ${node.alt}] `; return; }
    if (tag === "TABLE" && !node.querySelector("table")) { flush(prefix); table(node, out); return; }
    if (tag === "PRE") {
      flush(prefix);
      for (const line of node.textContent.slice(0, 1000000).split("\n")) out.line(line);
      return;
    }
    const isBlock = BLOCKS.has(tag);
    const heading = /^H([1-6])$/.exec(tag);
    let inner = prefix;
    if (heading) inner = "#".repeat(Number(heading[1])) + " ";
    else if (tag === "LI") inner = "- ";
    else if (tag === "BLOCKQUOTE") inner = "> ";
    if (isBlock) flush(prefix);
    const children = node.shadowRoot ? node.shadowRoot.childNodes : node.childNodes;
    for (const child of tag === "SLOT" && node.assignedNodes().length ? node.assignedNodes() : children) {
      visit(child, inner);
    }
    if (isBlock) flush(inner);
  };
  visit(root, "");
  flush();
}

/** A table as Markdown. */
function table(node, out) {
  const rows = [...node.rows].slice(0, 2000);
  const cells = rows.map((row) => [...row.cells].slice(0, 40)
    .map((cell) => squeeze(cell.innerText.slice(0, 2000)).replace(/\|/g, "\\|")));
  const width = Math.max(0, ...cells.map((row) => row.length));
  if (!width) return;
  if (node.caption) out.line("Table: " + squeeze(node.caption.innerText.slice(0, 500)));
  cells.forEach((row, index) => {
    while (row.length < width) row.push("");
    out.line(`| ${row.join(" | ")} |`);
    if (index === 0) out.line(`|${" --- |".repeat(width)}`);
  });
  if (node.rows.length > rows.length) out.line(`(${node.rows.length - rows.length} more rows)`);
}

function read(mode, offset, limit) {
  const out = new Window(offset, limit);
  if (!document.body) return out.result();
  if (mode === "article") write(articleRoot(), out, true);
  else if (mode === "text") write(document.body, out, false);
  else if (mode === "tables") {
    let count = 0;
    for (const node of [...document.querySelectorAll("table")].slice(0, 200)) {
      if (!isVisible(node) || node.querySelector("table")) continue;
      if (count++) out.line("");
      table(node, out);
    }
  } else if (mode === "links") {
    const seen = new Set();
    for (const node of elements(document)) {
      if (node.tagName !== "A" || !node.href || seen.size > 20000) continue;
      if (!/^(https?|mailto|tel):/.test(node.href) || !isVisible(node)) continue;
      const text = squeeze((node.innerText || node.getAttribute("aria-label") || "").slice(0, 300));
      const line = `- ${text || "(no text)"}: ${node.href.slice(0, 2000)}`;
      if (!seen.has(line)) { seen.add(line); out.line(line); }
    }
  }
  return out.result();
}

/** How large the document is, in a form that is quick to find out. */
function measure() {
  let longest = 0, text = 0, nodes = 0;
  const walker = document.createTreeWalker(document, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && nodes < 100000; node = walker.nextNode()) {
    nodes += 1;
    if (node.nodeType === Node.TEXT_NODE) { text += node.length; longest = Math.max(longest, node.length); }
  }
  const navigation = performance.getEntriesByType("navigation")[0];
  return { nodes, text, longest, status: navigation?.responseStatus ?? 0, title: document.title.slice(0, 300),
    type: document.contentType, state: document.readyState };
}

/** Why a field is not for everybody to fill in; empty where it is. */
function secretOf(element) {
  if (!/^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName)) return "";
  const type = (element.getAttribute("type") || "").toLowerCase();
  if (type === "hidden" || type === "submit" || type === "button") return "";
  const hints = (element.getAttribute("autocomplete") || "").toLowerCase();
  if (type === "password" || element.type === "password" || /(current|new)-password/.test(hints)) return "a password field";
  if (/(^|\s)cc-/.test(hints)) return "a payment card field";
  if (/one-time-code/.test(hints)) return "a one-time code field";
  const names = [element.name, element.id, element.placeholder, element.getAttribute("aria-label"),
    ...[...(element.labels || [])].map((label) => label.textContent.slice(0, 100))].join(" ").toLowerCase();
  if (/card.{0,3}n(umber|um\b|o\b)|credit.?card|\bcv[cv]2?\b|\bcsc\b|security.?code|\biban\b/.test(names)) return "a payment card field";
  if (/passw(or)?d|passcode|passphrase/.test(names)) return "a password field";
  if (/one.?time|\botp\b|\b2fa\b|verification.?code/.test(names)) return "a one-time code field";
  return "";
}

const PAYS = /\b(pay|buy|purchase|checkout|place (your |my )?order|order now|subscribe|donate|send money|transfer)\b|bezahlen|kaufen|bestellen|acheter|payer|comprar|pagar|결제|구매|支付|购买|購入/i;

const isButton = (element) => /^(BUTTON|A|SUMMARY)$/.test(element.tagName)
  || (element.tagName === "INPUT" && /^(submit|image|button|reset)$/.test(element.type))
  || /^(button|link|menuitem)$/.test(element.getAttribute("role") || "")
  || element.hasAttribute("onclick");

/** Secret fields, and what would send them: element, then "field: why" or "form: why". */
function sensitive() {
  const found = [], forms = new Map();
  let loose = "";
  for (const element of elements(document)) {
    const why = secretOf(element);
    if (!why) continue;
    found.push(element, "field: " + why);
    if (element.form) forms.set(element.form, why); else loose = why;
    if (found.length > 200) break;
  }
  const add = (element, why) => { if (found.length < 600 && !secretOf(element)) found.push(element, "form: " + why); };
  for (const [form, why] of forms) {
    for (const element of form.elements) add(element, `a form with ${why}`);
    for (const element of elements(form)) if (isButton(element)) add(element, `a form with ${why}`);
  }
  if (loose) {
    for (const element of elements(document)) {
      if (isButton(element) || /^(INPUT|TEXTAREA)$/.test(element.tagName)) add(element, `a page with ${loose}`);
    }
  }
  return found;
}

/** The same for one element, when it is about to be used. */
function sensitivityOf(element) {
  const own = secretOf(element);
  if (own) return "field: " + own;
  const scope = element.form || element.closest?.("form");
  if (scope) {
    for (const other of scope.elements) {
      const why = secretOf(other);
      if (why) return `form: a form with ${why}`;
    }
  }
  let loose = "";
  for (const other of elements(document)) {
    if (!other.form && !loose) loose = secretOf(other);
    if (loose) break;
  }
  if (loose && (isButton(element) || /^(INPUT|TEXTAREA)$/.test(element.tagName))) return `form: a page with ${loose}`;
  if (isButton(element) && PAYS.test(nameOf(element))) return "form: a payment, going by its name";
  return "";
}

function nameOf(element) {
  return squeeze((element.getAttribute("aria-label") || element.innerText || element.value || element.title || element.alt || "").slice(0, 200));
}

/** Elements that can be used, of a document that is too large for its whole tree. */
function usable(limit) {
  const found = [];
  for (const element of elements(document)) {
    if (found.length >= limit * 2) break;
    const isField = /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName) && element.type !== "hidden";
    const isHeading = /^H[1-6]$/.test(element.tagName);
    if ((isButton(element) || isField || isHeading) && isVisible(element)) {
      const role = isHeading ? "heading" : isField ? "textbox" : element.tagName === "A" ? "link" : "button";
      found.push(element, role + ":" + nameOf(element).slice(0, 150));
    }
  }
  return found;
}

function bySelector(selector) {
  try { return document.querySelector(selector); } catch { throw new Error("bad selector"); }
}

function has(selector, text) {
  if (selector) {
    const element = bySelector(selector);
    return Boolean(element && isVisible(element));
  }
  return Boolean(document.body && document.body.innerText.includes(text));
}

/** Makes an element ready for a click. `this` is the element. */
function prepare() {
  let element = this;
  if (!element.isConnected) return { gone: true };
  if (element.nodeType !== Node.ELEMENT_NODE) element = element.parentElement;
  element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const box = element.getBoundingClientRect();
  const x = box.left + box.width / 2, y = box.top + box.height / 2;
  let hit = element.getRootNode().elementFromPoint?.(x, y) ?? null;
  const isHit = Boolean(hit && (element.contains(hit) || hit.contains(element) || hit.closest("label")?.control === element));
  return {
    gone: false, visible: isVisible(element) && box.width > 0 && box.height > 0, hit: isHit,
    disabled: Boolean(element.disabled) || element.getAttribute("aria-disabled") === "true",
    tag: element.tagName, type: (element.type || "").toLowerCase(),
    editable: element.isContentEditable, name: nameOf(element), sensitivity: sensitivityOf(element),
    cover: isHit || !hit ? "" : hit.tagName.toLowerCase(),
  };
}

/** Counts changes of the document from now on. */
function watch() {
  globalThis.langoChanges = 0;
  globalThis.langoObserver?.disconnect();
  globalThis.langoObserver = new MutationObserver((records) => { globalThis.langoChanges += records.length; });
  globalThis.langoObserver.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  return true;
}

function changes() {
  const records = globalThis.langoObserver?.takeRecords().length ?? 0;
  globalThis.langoObserver?.disconnect();
  return (globalThis.langoChanges ?? 0) + records;
}

function press() { this.click(); return true; }

/** Focuses a field with its content selected. */
function focusField() {
  this.focus();
  if (this.isContentEditable) {
    const range = document.createRange();
    range.selectNodeContents(this);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return this.textContent.length > 0;
  }
  this.select?.();
  return (this.value ?? "").length > 0;
}

/** Chooses an option by its label or value. */
function choose(text) {
  const options = [...this.options].slice(0, 5000);
  const wanted = squeeze(text).toLowerCase();
  const option = options.find((o) => squeeze(o.label).toLowerCase() === wanted || o.value === text)
    ?? options.find((o) => squeeze(o.label).toLowerCase().includes(wanted));
  if (!option) return { chosen: "", options: options.slice(0, 30).map((o) => squeeze(o.label).slice(0, 80)) };
  this.value = option.value;
  this.dispatchEvent(new Event("input", { bubbles: true }));
  this.dispatchEvent(new Event("change", { bubbles: true }));
  return { chosen: squeeze(option.label).slice(0, 80), options: [] };
}

/** Sets a field that has a form of its own, such as a date. */
// Puts a value into a field, if its document is of this origin now. The check and the change are one
// step: a page that has gone on takes nothing along.
function assignAt(origin, text) {
  const place = this.ownerDocument && this.ownerDocument.defaultView;
  if (!place || place.origin !== origin) return "moved";
  return assign.call(this, text) ? "taken" : "changed";
}

function assign(text) {
  this.value = text;
  this.dispatchEvent(new Event("input", { bubbles: true }));
  this.dispatchEvent(new Event("change", { bubbles: true }));
  return this.value === text;
}
