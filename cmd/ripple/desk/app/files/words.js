// Numbers, times and names as people read them.

export function number(n) {
  return n === null || n === undefined ? "–" : Number(n).toLocaleString("en", { maximumFractionDigits: 1 });
}

// count formats a number of things: count(1, "page") is "1 page".
export function count(n, one, more = one + "s") {
  return number(n) + " " + (n === 1 ? one : more);
}

export function percent(part, whole) {
  if (!whole) return "–";
  const share = (100 * part) / whole;
  return (share > 99.9 && share < 100 ? "99.9" : share.toLocaleString("en",
    { maximumFractionDigits: share < 10 ? 1 : 0 })) + " %";
}

// span formats a time in seconds in its two largest units.
export function span(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  if (seconds > 0 && seconds < 0.95) return Math.round(seconds * 1000) + " ms";
  if (seconds < 9.95) return (Math.round(seconds * 10) / 10) + " s";
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  let rest = Math.round(seconds), parts = [];
  for (const [name, size] of units) {
    const whole = Math.floor(rest / size);
    rest -= whole * size;
    if (whole || parts.length) parts.push(whole ? `${whole} ${name}` : "");
  }
  return parts.slice(0, 2).filter(Boolean).join(" ");
}

export function milliseconds(ms) {
  return ms === null || ms === undefined ? "–" : ms === 0 ? "0 ms" : span(ms / 1000);
}

// ago formats how long ago a moment was, or how far ahead it is.
export function ago(time, now = Date.now()) {
  const seconds = (now - Date.parse(time)) / 1000;
  if (Number.isNaN(seconds)) return "never";
  if (Math.abs(seconds) < 1.5) return "now";
  return seconds > 0 ? span(Math.round(seconds)) + " ago" : "in " + span(-seconds);
}

export function moment(time) {
  if (Number.isNaN(Date.parse(time))) return "–";
  return new Date(time).toISOString().replace("T", " ").replace(/\.\d+Z$|Z$/, "") + " UTC";
}

export function clock(time) {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? "–" : at.toLocaleTimeString("en-GB");
}

export function bytes(n) {
  if (n === null || n === undefined || n < 0) return "–";
  let size = n, unit = 0;
  const units = ["B", "kB", "MB", "GB", "TB"];
  while (size >= 1000 && unit < units.length - 1) { size /= 1000; unit++; }
  return size.toLocaleString("en", { maximumFractionDigits: unit && size < 100 ? 1 : 0 }) + " " + units[unit];
}

// plain turns a name of the API into words: "dead_link" is "dead link".
export function plain(name) {
  return String(name).replaceAll("_", " ").replace(/\bdns\b/, "DNS").replace(/\btls\b/, "TLS")
    .replace(/\bsoft404\b/, "soft 404");
}

const states = {
  processed: "good", queued: "calm", discovered: "calm", fetching: "busy", blacklisted: "off", stubbed: "stub",
    depth_exceeded: "off",
  request_limit_hit: "warm", rate_limited: "warm", dead_link: "bad", unreachable: "bad", failed: "bad",
  content_mismatch: "off",
};

export function stateColour(state) { return Object.hasOwn(states, state) ? states[state] : "calm"; }

const answers = { challenge: "warm", soft404: "bad", parked: "off" };

export function answerColour(answer) { return Object.hasOwn(answers, answer) ? answers[answer] : "calm"; }

// ruleText says by which rule it was recognised that an answer is no page.
export function ruleText(a) {
  return `${a.sign} (rule ${a.answer_rule}${a.rule_date ? ` of ${a.rule_date}; ${a.rule_source}` : ""})`;
}

// frontText says what a front page shows.
export function frontText(f) { return f.redirect_to ? "redirects to " + f.redirect_to : f.title || "a page without a title"; }

// probeText says what a host answered to a request for a page that does not exist.
export function probeText(p) {
  return [`${p.url}:`, p.wall ? "a wall" : p.status_code || "no answer", p.redirect_to && "to " + p.redirect_to,
    p.title && `"${p.title}"`, p.needs_scripts && "(needs scripts)",
    p.requested_at && "at " + moment(p.requested_at)].filter(Boolean).join(" ");
}

const conditions = { running: "good", paused: "warm", network: "bad", disk: "warm", memory: "warm", hub: "bad",
  silent: "bad", stopping: "warm", writing: "accent", stopped: "warm", interrupted: "warm" };

export function conditionColour(name) { return Object.hasOwn(conditions, name) ? conditions[name] : "calm"; }

const classes = { quality: "class-quality", discovered: "class-discovered", stub: "class-stub",
  blacklist: "class-blacklist" };

export function classColour(name) { return Object.hasOwn(classes, name) ? classes[name] : "calm"; }

// coverColour shows how well a host is covered: completely, left out on purpose, or cut.
export function coverColour(coverage) {
  if (coverage.startsWith("complete")) return "good";
  return /^(not visited|blacklist|stub|listed|not finished|not in the archives)/.test(coverage) ? "calm" : "warm";
}
