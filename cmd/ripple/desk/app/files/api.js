// Questions to the desk's API. The token comes in exchange for the ticket in the address, or is typed in. It stays in
// this tab and is sent in a header only.

const root = "/api/v1/", kept = "ripple-token";
let token = sessionStorage.getItem(kept) || "";
let fresh = false; // the next answers are to be of now

export function setToken(text) {
  token = text.trim();
  sessionStorage.setItem(kept, token);
}

// enter exchanges the ticket of the address for the token, and leaves the address of the view. The history of the
// browser keeps a ticket that is used up.
export async function enter(signal) {
  const [, ticket, view] = /^#token=([^#]+)(.*)$/.exec(location.hash) || [];
  if (!ticket) return;
  history.replaceState(null, "", "/" + view);
  const { token } = await (await fetched("/enter", { method: "POST", signal, credentials: "omit",
    headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ticket }) })).json();
  setToken(token);
}

// A Failure is why a question has no answer: code 0 where the desk cannot be reached.
export class Failure extends Error {
  constructor(code, message, again) {
    super(message);
    this.code = code;
    this.again = again; // seconds after which it may be asked again
  }
}

// send asks and returns the response, or fails.
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
    throw new Failure(0, "The desk does not answer. Is its crawl, or “ripple serve”, still running?");
  }
  if (!response.ok) throw await failure(response);
  return response;
}

// askFresh asks as question does, for answers of now instead of those of an older copy.
export async function askFresh(question) {
  fresh = true;
  try { return await question(); } finally { fresh = false; }
}

async function failure(response) {
  let text = "";
  try { text = (await response.json()).error; } catch { /* no reason was given */ }
  return new Failure(response.status, text || `The desk answers ${response.status} ${response.statusText}.`,
    Number(response.headers.get("Retry-After")) || 0);
}

// ask returns an answer, with the age of the snapshot that gave it in seconds, or null.
export async function ask(path, options) {
  const response = await send(path, options), age = response.headers.get("Ripple-Age");
  const data = await response.json();
  return { data, age: age === null ? null : Number(age) };
}

let paths = {};

// describe learns what the desk can be asked, once.
export async function describe(signal) {
  const { data } = await ask("openapi.json", { signal });
  paths = data.paths;
}

// offers says whether the desk can be asked that.
export function offers(path) { return Object.hasOwn(paths, "/" + path); }

// wordsOf lists what a parameter of a question may be.
export function wordsOf(path, name) {
  const parameter = offers(path) && paths["/" + path].get.parameters.find((p) => p.name === name);
  return (parameter && parameter.schema.enum) || [];
}
