// Server-sent events, read by fetch: so the token goes in a header. A stream that
// breaks is taken up again behind the last event that was read, so that nothing is
// missed and nothing is seen twice; a hidden tab has none.

import { send, Failure } from "./api.js";

const silence = 20000; // ms without a byte: the line is dead
const shortest = 500, longest = 15000; // ms before a line is taken up again

// follow reads events behind place.cursor until signal ends it, or the desk has no stream
// for it: then it fails. A cursor of another terrain is given up. It calls
// on.event(name, data), and on.line(true | Failure) when the line comes and goes.
export async function follow(place, on, signal) {
  for (let wait = shortest; !signal.aborted; wait = Math.min(wait * 2, longest)) {
    await seen(signal);
    if (!signal.aborted && await stream(place, on, signal)) wait = shortest;
    if (!document.hidden) await pause(wait, signal);
  }
}

// stream reads one stream to its end, and returns whether it told the status.
async function stream(place, on, signal) {
  const line = new AbortController(), end = () => line.abort(), hide = () => { if (document.hidden) end(); };
  let told = false;
  signal.addEventListener("abort", end);
  document.addEventListener("visibilitychange", hide);
  try {
    const headers = place.cursor ? { "Last-Event-ID": place.cursor } : {};
    const response = await send("events", { signal: line.signal, headers });
    on.line(true);
    await read(response.body.getReader(), end, (name, data, id) => {
      told = told || name === "status";
      if (id) place.cursor = id;
      on.event(name, data);
    });
    if (!told) throw new Failure(503, "The desk has no stream left.");
  } catch (error) {
    if (error instanceof Failure && error.code > 0) refused(place, error);
    const broken = new Failure(0, "The line to the desk broke; it is being taken up again.");
    if (!signal.aborted && !document.hidden) on.line(error instanceof Failure ? error : broken);
  } finally {
    signal.removeEventListener("abort", end);
    document.removeEventListener("visibilitychange", hide);
  }
  return told;
}

// refused hands on a refusal, unless that is of the cursor: then a stream begins anew.
function refused(place, error) {
  if (error.code !== 400 || !place.cursor) throw error;
  place.cursor = "";
}

// seen returns when the tab can be seen, or signal ends it.
export function seen(signal) {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look, { once: true });
  });
}

function pause(time, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, time);
    signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}

// read takes a body apart into events and gives it up when it is silent for too long.
async function read(reader, end, event) {
  const decoder = new TextDecoder();
  let rest = "", timer = 0;
  try {
    for (;;) {
      clearTimeout(timer);
      timer = setTimeout(end, silence);
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const parts = rest.split(/\r?\n\r?\n/);
      rest = parts.pop();
      for (const part of parts) deliver(part, event);
    }
  } finally {
    clearTimeout(timer);
  }
}

function deliver(part, event) {
  let name = "message", id = "", data = [];
  for (const line of part.split(/\r?\n/)) {
    const at = line.indexOf(":"), field = at < 0 ? line : line.slice(0, at);
    const value = at < 0 ? "" : line.slice(at + 1).replace(/^ /, "");
    if (field === "event") name = value;
    else if (field === "id") id = value;
    else if (field === "data") data.push(value);
  }
  if (data.length) event(name, JSON.parse(data.join("\n")), id);
}
