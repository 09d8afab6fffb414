// What the desk sends by itself: the status, every second while a crawl is running, and the
// visits as they happen. There is one stream for the whole page; views listen to it.

import { ask, Failure } from "./api.js";
import { follow } from "./stream.js";

const mostVisits = 200, mostSamples = 3600, patience = 5000;

export const live = {
  status: null, // the latest; null: none yet
  line: null, // null: connecting; true: connected; or the Failure that prevents it
  lost: 0, // since when it does; 0: connected
  visits: [], // newest first
  samples: [], // {at, rate, waiting}, oldest first
  listeners: new Set(),
};

// listen calls told at every change, and once at the start, until signal ends it.
export function listen(told, signal) {
  live.listeners.add(told);
  signal.addEventListener("abort", () => live.listeners.delete(told));
  told(live);
}

function tell() {
  for (const told of [...live.listeners]) told(live);
}

const place = { cursor: "" }; // in the stream
const full = [404, 429, 503]; // the desk has no stream for us: the status is polled instead

// start follows the desk until signal ends it or the token is refused.
export async function start(signal) {
  while (!signal.aborted) {
    try {
      const { data } = await ask("status", { signal });
      takeStatus(data);
      tellLine(true);
      if (data.mode !== "file") await followed(untilFile(signal));
    } catch (error) {
      if (error.name === "AbortError") return;
      tellLine(error instanceof Failure ? error : new Failure(0, String(error)));
      if (error.code === 401) return;
    }
    await new Promise((resolve) => setTimeout(resolve, patience));
  }
}

// followed follows the stream until signal ends it, or the desk has none for us.
async function followed(signal) {
  try {
    await follow(place, { event: take, line: tellLine }, signal);
  } catch (error) {
    if (!full.includes(error.code)) throw error;
  }
}

// untilFile returns a signal that ends the stream when the crawl ends.
function untilFile(signal) {
  const ended = new AbortController();
  signal.addEventListener("abort", () => ended.abort());
  live.over = () => ended.abort();
  return ended.signal;
}

function tellLine(line) {
  live.line = line;
  live.lost = line === true ? 0 : live.lost || Date.now();
  tell();
}

function take(name, data) {
  if (name === "status") takeStatus(data);
  if (name === "visits") takeVisits(data);
  if (name === "ended") live.over();
  tell();
}

function takeStatus(status) {
  if (live.status && live.status.run_id !== status.run_id) live.samples = [];
  live.status = status;
  if (status.mode === "file") return;
  live.samples.push({ at: Date.now(), rate: status.pages_per_second, waiting: status.pages_to_visit });
  if (live.samples.length > mostSamples) live.samples.shift();
}

// takeVisits puts new visits before the earlier ones. If the desk left some out because they were
// too many to read, an entry between them says how many.
function takeVisits({ visits, omitted }) {
  const gap = omitted > 0 && visits.length ? [{ omitted, cursor: visits[0].cursor - 0.5 }] : [];
  live.visits = [...visits.slice(-mostVisits).reverse(), ...gap, ...live.visits].slice(0, mostVisits);
}
