// Near-duplicates: clusters of pages whose texts are nearly the same, of all hosts or of one.

import { ask } from "./api.js";
import { el, put, address, hostLink, pageLink } from "./dom.js";
import { heading, section, empty, fetched, table } from "./parts.js";
import { number, count, percent } from "./words.js";

const most = 100; // clusters listed, and pages of each

export function show(view, said, signal, domain) {
  const total = el("span", { class: "soft total", role: "status" }), box = el("div", {});
  put(view, heading("Near-duplicates", total),
    el("p", { class: "lead" }, "Pages whose texts are nearly the same. Each cluster has the name of its page that is nearest to " +
      "an origin; the bits are those of 64 in which the SimHash of another page differs from it. ",
    domain ? ["Of these clusters, the pages of ", hostLink(domain), " are listed. ", duplicatesLink("", "All hosts")] : null), box);
  fetched(box, () => ask("duplicates", { said: { domain, limit: most }, signal }), (d) => draw(d, total), signal);
}

// duplicatesLink links to the clusters with pages of a host; without one, to all.
export function duplicatesLink(domain, text) {
  return el("a", { class: "name", href: address(domain ? "duplicates/" + encodeURIComponent(domain) : "duplicates") }, text);
}

function draw(d, total) {
  put(total, count(d.duplicates, "page"), " in ", count(d.cluster_count, "cluster"),
    d.duplicate_share ? `, ${percent(d.duplicate_share, 1)} of the pages with enough text` : null);
  if (!d.cluster_count) return empty("No page's text is nearly the same as another's.");
  return [d.clusters.length < d.cluster_count && el("p", { class: "soft", role: "status" },
    `Listed are the ${number(d.clusters.length)} largest clusters; `, el("code", {}, "ripple duplicates --limit -1"),
    " prints all."),
  d.clusters.map((c) => section(null, null, el("p", {}, pageLink(c.url), " ", el("span", { class: "soft" },
    `${count(c.pages, "page")} on ${count(c.hosts, "host")}, at most ${count(c.bits, "bit")} differ` +
    (c.other_hosts ? `; not listed: ${count(c.other_hosts, "page")} on other hosts` : ""))),
  table([{ title: "page", name: "page", value: (p) => p.url, class: "name", cell: (p) => pageLink(p.url) },
    { title: "bits that differ", name: "bits", value: (p) => p.bits, class: "num", cell: (p) => number(p.bits) }],
  c.members, { most: 10 })))].flat();
}
