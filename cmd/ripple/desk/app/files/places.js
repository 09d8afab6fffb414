// Who links to a host or a page: links by their place, those in the text first.

import { el, keep } from "./dom.js";
import { table, choice, fetched } from "./parts.js";
import { number } from "./words.js";

const names = { "": "all", text: "in the text", sitewide: "site-wide" };

// inPlaceText says which links are counted.
export const inPlaceText = (place) => (!place ? "all links" : place === "text" ? "links in the text alone"
  : place === "sitewide" ? "site-wide links alone" : place === "redirect" ? "redirects alone" : `links in ${place} alone`);

// linkers shows the links in each place, and draws those of the chosen one into list. After a choice, question(place)
// asks for others, and of(answer) are drawn. label says what the choice is about.
export function linkers(links, more) {
  const { view, said, question, of, draw, chosen, signal, label = "links" } = more;
  const list = el("div", {}, draw(links)), place = said.place || "";
  const choose = (next) => {
    keep(view, { ...said, place: next }, { place: next });
    if (chosen) chosen(next);
    fetched(list, () => question(next), (answer) => draw(of(answer)), signal);
  };
  const offered = [...new Set(["", "text", ...links.places.map((p) => p.place), place])];
  return [table([{ title: "place", cell: (p) => names[p.place] || p.place },
    ...["links", "pages", "anchors", "origins"].map((name) => (
      { title: name, class: "num", cell: (p) => number(p[name]) }))], links.places),
  el("div", { class: "filters" }, choice(label, offered.map((p) => [p, names[p] || p]), place, choose)), list];
}

// placed says where a link is.
export const placed = (l) => [l.place, l.sitewide && "site-wide"].filter(Boolean).join(", ") || "–";

// inPlace returns the SQL condition for links l in a place.
export function inPlace(place) {
  if (!place) return "";
  if (place === "sitewide") return " AND l.sitewide";
  if (place === "redirect") return " AND l.kind = 'redirect'";
  if (place !== "text") return ` AND l.place = '${place.replaceAll("'", "''")}'`;
  return `
  AND l.place IN ('main', 'body', 'aside') AND l.rel IS NULL AND NOT l.sitewide
  AND 'anchor' IN (SELECT kind FROM link_kinds WHERE from_page_id = f.id AND to_page_id = t.id)`;
}
