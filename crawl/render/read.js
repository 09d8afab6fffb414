// The document of a finished page as HTML; null: longer than the limit. It runs in a world
// of its own, which the page's scripts cannot reach.
(url, limit) => {
  const root = document.documentElement;
  if (!root) return "";
  // Links are relative to where the page's scripts have led the address.
  const base = document.querySelector("base[href]");
  if (base) base.setAttribute("href", base.href);
  else if (document.baseURI.split("#")[0] !== url && document.head) {
    const made = document.createElement("base");
    made.setAttribute("href", document.baseURI);
    document.head.prepend(made);
  }
  const shadowRoots = [];
  const walk = (within) => {
    for (const element of within.querySelectorAll("*")) {
      if (!element.shadowRoot) continue;
      shadowRoots.push(element.shadowRoot);
      walk(element.shadowRoot);
    }
  };
  walk(document);
  const shell = root.cloneNode(false).outerHTML, end = `</${root.localName}>`;
  const type = document.doctype ? `<!DOCTYPE ${document.doctype.name}>\n` : "";
  const open = shell.endsWith(end) ? shell.slice(0, -end.length) : shell;
  const text = type + open + root.getHTML({ shadowRoots }) + end;
  return text.length > limit ? null : text.toWellFormed();
}
