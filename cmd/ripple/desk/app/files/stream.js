// Server-sent events, read by fetch, so that the token can be sent in a header. A broken stream
// is resumed after the last event that was read, so that no event is missed or seen twice. A hidden
// tab has no stream.

import { send, Failure } from "./api.js";

const silence = 20000; // ms without a byte: the connection is dead
const shortest = 500, longest = 15000; // ms before reconnecting

// follow reads events after place.cursor until signal ends it. It fails if the desk has no stream
// for it. A cursor of another terrain is dropped. follow calls on.event(name, data), and
// on.line(true | Failure) when the connection is made or lost.
export async function follow(place, on, signal) {
  for (let wait = shortest; !signal.aborted; wait = Math.min(wait * 2, longest)) {
    await seen(signal);
    if (!signal.aborted && await stream(place, on, signal)) wait = shortest;
    if (!document.hidden) await pause(wait, signal);
  }
}

// stream reads one stream to its end, and returns whether it contained a status.
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
    if (!told) throw new Failure(503, "The desk has no free stream.");
  } catch (error) {
    if (error instanceof Failure && error.code > 0) refused(place, error);
    const broken = new Failure(0, "The connection to the desk was lost; reconnecting.");
    if (!signal.aborted && !document.hidden) on.line(error instanceof Failure ? error : broken);
  } finally {
    signal.removeEventListener("abort", end);
    document.removeEventListener("visibilitychange", hide);
  }
  return told;
}

// refused passes a refusal on, unless the cursor was refused: then a new stream begins.
function refused(place, error) {
  if (error.code !== 400 || !place.cursor) throw error;
  place.cursor = "";
}

// seen returns when the tab is visible, or signal ends it.
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

// read parses a body into events, and gives up when it is silent for too long.
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
