// Control: the commands for a running crawl.

import { ask } from "./api.js";
import { el, put, button, chip } from "./dom.js";
import { listen } from "./live.js";
import { heading, section, facts, empty, failed, loading, confirmed } from "./parts.js";
import { span, conditionColour } from "./words.js";

// A command has two texts: for one crawl, and for a terrain of several machines.
const commands = [
  { name: "pause", title: "Pause", text: "No further requests are sent until the crawl is resumed; open requests finish.",
    all: "No machine sends further requests until the terrain is resumed, not even one that joins later.",
    done: "The crawl is paused." },
  { name: "unpause", title: "Resume", text: "The crawl continues; the clocks of hosts kept running.",
    all: "All machines continue within a second.",
    done: "The crawl continues." },
  { name: "reload", title: "Reload the configuration",
    text: "Applies changed lists and scope to the waiting pages, like SIGHUP.",
    all: "The terrain uses this machine's file; each machine applies it when its own file says the same.",
    done: "The configuration was read again." },
  { name: "stop", title: "Stop",
    text: "The crawl stops within 10 s; no outputs are written. \"ripple crawl\" resumes it where it stopped.",
    all: "All machines that have a shard stop within 10 s. \"ripple crawl\" on each resumes where it stopped.",
    done: "The crawl is stopping.", danger: "Stop the crawl?" },
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
    const now = s.mode + s.condition.name + s.condition.commands + (s.terrain ? [s.terrain.run, s.terrain.configuration, s.terrain.nodes] : "");
    several = s.mode === "terrain";
    if (drawn !== now) put(box, s.mode === "file" ? finished(s) : running(s, tell));
    drawn = now;
  }, signal);
}

// quick returns the buttons that pause or resume a crawl, where its condition is told.
export function quick({ condition: c }, problem, signal) {
  return commands.filter((one) => /pause$/.test(one.name) && c.commands.includes(one.name)).map((one) => {
    const made = button(one.title, async () => {
      made.disabled = true;
      try { await ask(one.name, { body: {}, signal }); put(problem); } catch (error) {
        if (error.name !== "AbortError") put(problem, failed(error));
        made.disabled = false;
      }
    }, { class: "button" + (one.name === "unpause" ? " main" : "") });
    return made;
  });
}

function finished(s) {
  return empty(s.condition.headline + " " +"No crawl is using this state file, so there is nothing to control. \"ripple crawl CONFIG\" starts " +
    "or resumes one, and this page then follows it.");
}

function running(s, tell) {
  const several = s.mode === "terrain";
  return [section(several ? "This terrain" : "This crawl", null, facts(several ? ofTerrain(s) : ofCrawl(s))),
    el("ul", { class: "commands" }, commands.map((c) => {
      const able = s.condition.commands.includes(c.name);
      return el("li", { class: "block" }, button(c.title, () => tell(c),
        { class: "button" + (c.danger ? " danger" : ""), disabled: !able }),
        el("p", { class: "soft" }, several ? c.all : c.text));
    }))];
}

function stateOf(s) { return ["state", chip(s.condition.label, conditionColour(s.condition.name))]; }

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
