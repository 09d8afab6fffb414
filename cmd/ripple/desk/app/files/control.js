// Control: what a running crawl can be told.

import { ask } from "./api.js";
import { el, put, button, chip } from "./dom.js";
import { listen } from "./live.js";
import { heading, section, facts, empty, failed, loading, confirmed } from "./parts.js";
import { span } from "./words.js";

const tints = { running: "good", paused: "warm", stopping: "warm", writing: "accent", finished: "calm" };
// commands have a text of their own for several machines.
const commands = [
  { name: "pause", title: "Pause", text: "Nothing further is asked until it goes on; what is open is finished.",
    all: "No machine asks anything further until they go on, also none that comes meanwhile.",
    when: ["running"], done: "It is paused." },
  { name: "unpause", title: "Go on", text: "The crawl goes on; clocks of hosts ran meanwhile.",
    all: "All machines go on within a second.", when: ["paused"],
    done: "It goes on." },
  { name: "reload", title: "Reload the configuration",
    text: "Changed lists and scope are applied to the pages that wait, as by SIGHUP.",
    all: "The terrain follows the file of this machine; each takes it when its own file says the same.",
    when: ["running", "paused"],
    done: "The configuration was read again." },
  { name: "stop", title: "Stop",
    text: "It ends within 10 s and commits; no outputs are written. “ripple crawl” resumes it where it stopped.",
    all: "All machines that have a shard end within 10 s. “ripple crawl” on each goes on where it stopped.",
    when: ["running", "paused"], done: "It is stopping.", danger: "Stop the crawl?" },
];

export function show(view, said, signal) {
  const box = el("div", {}), answer = el("p", { class: "lead", role: "status" });
  let drawn = "", several = false;
  put(view, heading("Control"), box, answer);
  const tell = async (c) => {
    if (c.danger && !(await confirmed(c.danger, several ? c.all : c.text, c.title))) return;
    put(answer, loading());
    try {
      const { data } = await ask(c.name, { body: {}, signal });
      put(answer, (data && data.message) || c.done);
    } catch (error) {
      if (error.name !== "AbortError") put(answer, failed(error));
    }
  };
  listen(({ status: s, line }) => {
    if (!s) { put(box, line && line !== true ? failed(line) : loading()); return; }
    const now = s.mode + s.status + (s.terrain ? [s.terrain.run, s.terrain.configuration, s.terrain.nodes] : "");
    several = s.mode === "terrain";
    if (drawn !== now) put(box, s.mode === "file" ? finished() : running(s, tell));
    drawn = now;
  }, signal);
}

function finished() {
  return empty("No crawl runs over this state, so there is nothing to control. “ripple crawl CONFIG” begins " +
    "or resumes one; this page follows it then.");
}

function running(s, tell) {
  const several = s.mode === "terrain";
  return [section(several ? "This terrain" : "This crawl", null, facts(several ? ofTerrain(s) : ofCrawl(s))),
    el("ul", { class: "commands" }, commands.map((c) => {
      const able = c.when.includes(s.status);
      return el("li", { class: "block" }, button(c.title, () => tell(c),
        { class: "button" + (c.danger ? " danger" : ""), disabled: !able }),
        el("p", { class: "soft" }, several ? c.all : c.text));
    }))];
}

function stateOf(s) { return ["state", chip(s.status, Object.hasOwn(tints, s.status) ? tints[s.status] : "calm")]; }

function ofCrawl(s) {
  return [stateOf(s), ["run", "#" + s.run_id], ["process", String(s.pid)],
    ["running for", span(Math.round(s.elapsed_seconds))], ["configuration", s.config_path],
    ["state file", s.state_path]];
}

function ofTerrain({ terrain: t, ...s }) {
  return t ? [stateOf(s), ["run", "#" + t.run], ["configuration", "#" + t.configuration], ["hub", t.hub],
    ["machines", t.nodes.length > 0 && el("ul", { class: "plain-list" }, t.nodes.map((name) => el("li", {}, name)))]]
    : [stateOf(s), ["", s.error_message]];
}
