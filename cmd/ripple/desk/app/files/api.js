// Requests to the desk's API. The token is exchanged for the ticket in the address, or typed in. It stays in this tab
// and is only sent in a header.

const root = "/api/v1/", kept = "ripple-token";
let token = sessionStorage.getItem(kept) || "";
let fresh = false; // the next answers must be current

export function setToken(text) {
  token = text.trim();
  sessionStorage.setItem(kept, token);
}

// enter exchanges the ticket in the address for the token, and restores the address of the view. The browser's history
// only keeps a ticket that is used up.
export async function enter(signal) {
  const [, ticket, view] = /^#token=([^#]+)(.*)$/.exec(location.hash) || [];
  if (!ticket) return;
  history.replaceState(null, "", "/" + view);
  const { token } = await (await fetched("/enter", { method: "POST", signal, credentials: "omit",
    headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ticket }) })).json();
  setToken(token);
}

// A Failure is why a request has no answer. Its code is 0 if the desk cannot be reached.
export class Failure extends Error {
  constructor(code, message, again) {
    super(message);
    this.code = code;
    this.again = again; // seconds after which it may be tried again
  }
}

// send sends a request and returns the response, or fails.
export async function send(path, { said = {}, body, method, headers = {}, signal } = {}) {
  const list = Object.entries(said).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const query = list.length ? "?" + new URLSearchParams(list) : "";
  const options = { method: method || (body === undefined ? "GET" : "POST"), signal,
    credentials: "omit", headers: { Authorization: "Bearer " + token, ...headers } };
  if (fresh) options.headers["Cache-Control"] = "no-cache";
  if (options.method === "POST") {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body === undefined ? {} : body);
  }
  return fetched(root + path + query, options);
}

// fetched returns the response to a request, or fails.
async function fetched(address, options) {
  let response;
  try {
    response = await fetch(address, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0, "The desk does not answer. Is the crawl, or \"ripple serve\", still running?");
  }
  if (!response.ok) throw await failure(response);
  return response;
}

// askFresh calls question, and gets current answers instead of those of an older snapshot.
export async function askFresh(question) {
  fresh = true;
  try { return await question(); } finally { fresh = false; }
}

async function failure(response) {
  let text = "";
  try { text = (await response.json()).error; } catch { /* no reason was given */ }
  return new Failure(response.status, text || `The desk answered ${response.status} ${response.statusText}.`,
    Number(response.headers.get("Retry-After")) || 0);
}

// ask returns an answer with the age of its snapshot in seconds, or null.
export async function ask(path, options) {
  const response = await send(path, options), age = response.headers.get("Ripple-Age");
  const data = await response.json();
  return { data, age: age === null ? null : Number(age) };
}

let paths = {};

// describe reads the desk's endpoints, once.
export async function describe(signal) {
  const { data } = await ask("openapi.json", { signal });
  paths = data.paths;
}

// offers reports whether the desk has an endpoint.
export function offers(path) { return Object.hasOwn(paths, "/" + path); }

// wordsOf lists the values that a parameter of an endpoint may have.
export function wordsOf(path, name) {
  const parameter = offers(path) && paths["/" + path].get.parameters.find((p) => p.name === name);
  return (parameter && parameter.schema.enum) || [];
}
