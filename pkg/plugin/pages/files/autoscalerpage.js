// SPDX-License-Identifier: Apache-2.0

import { h, table } from "./dom.js";
import { amount, count, day, many, span, time } from "./format.js";
import { detail, fleet, live, now } from "./source.js";
import { whyAt } from "./chart.js";
import { badge, classOf, worded } from "./state.js";
import { compareSection } from "./compare.js";
import { replaySection } from "./replaysection.js";
import { timeline, valuesTable } from "./timeline.js";

const leastSpan = 120000; // of the axis of time: a line of a second tells nothing

export function autoscalerPage(id) {
  const [, namespace, name] = id.split("/");
  const body = h("div", {}, h("p", { class: "loading" }, "Reading …"));
  const root = h("div", {}, h("p", { class: "back" }, h("a", { href: "#/autoscalers" }, "Autoscalers")),
    h("h1", { tabindex: -1 }, h("span", { class: "namespace" }, `${namespace}/`), name), body);
  const looked = { kept: null, compared: {}, texts: new Map(), replay: null }; // at which moments, and with which settings
  let asked = null, again = null, shown = "";

  async function load() {
    again = null;
    if (asked) asked.abort();
    const mine = (asked = new AbortController());
    try {
      const all = await detail(id, mine.signal);
      if (mine !== asked) return;
      const text = JSON.stringify({ ...all, now: 0, explanation: "" }); // which also tells how long ago things were
      if (text === shown && all && all.explanation) body.querySelector("pre").textContent = all.explanation;
      else draw(all);
      shown = text;
      if (all && all.reading && !again) again = setTimeout(load, 1000);
    } catch (fault) {
      if (fault.name !== "AbortError") body.replaceChildren(h("p", { class: "callout" }, `It cannot be read: ${fault.message}`));
    }
  }

  function draw(all) {
    const row = fleet.autoscalers.get(id);
    if (!all) {
      body.replaceChildren(row ? h("div", {}, h("p", {}, badge(row.state)), h("p", { class: "callout" }, row.why || "More of it is not in this file."))
        : h("p", {}, "There is no such autoscaler, or it is not known yet."));
      return;
    }
    const focused = body.contains(document.activeElement) ? document.activeElement.closest("[data-keep]")?.dataset.keep : undefined;
    const open = new Set([...body.querySelectorAll("details[open]")].map((element) => element.dataset.keep));
    const first = !body.dataset.drawn;
    body.dataset.drawn = "true";
    body.replaceChildren(...sections(id, all, looked));
    for (const element of body.querySelectorAll("details")) if (!first) element.open = open.has(element.dataset.keep);
    const kept = focused && body.querySelector(`[data-keep="${CSS.escape(focused)}"]`);
    if (kept) (kept.querySelector("summary") || kept).focus({ preventScroll: true });
  }
  load();
  return {
    root, title: `${namespace}/${name}`, draw: (change) => {
      if (!live || again) return;
      if (change.whole || change.autoscalers.some((row) => row.id === id) || change.gone.includes(id)) again = setTimeout(load, 200);
    },
    slow: () => live && load(), // Events change without the object
    end: () => { clearTimeout(again); if (asked) asked.abort(); },
  };
}

function sections(id, all, looked) {
  return [heading(all), ...pictures(all, looked), ...sizesOver(all, looked), compareSection(id, all, looked), replaySection(id, all, looked), clusters(all), sizes(all), comings(all), explanation(all), conditions(all), events(all)].filter(Boolean);
}

function heading(all) {
  const cards = all.kind === "CronFederatedHPA" ? [["Next run", all.next ? `in ${span(all.next - all.now)}` : "none", all.next ? day(all.next) : ""]] : [
    ["Desired", count(all.desired), all.state && all.desired === undefined ? "not known" : "replicas"],
    all.ready !== undefined && ["Ready", count(all.ready), "Pods"],
    all.max !== undefined && ["Bounds", `${count(all.min)}–${count(all.max)}`, "replicas"],
    all.clusters.length > 0 && ["Clusters", seen(all.clusters), "seen"],
    all.sized && ["Sized", all.sized, "Pods have the size"],
  ].filter(Boolean);
  return h("div", {}, h("p", { class: "states" }, badge(all.state), h("span", {}, `${all.kind} of ${all.target}`)),
    all.why && h("p", { class: `callout ${classOf(all.state)}` }, all.why),
    all.limit && h("p", { class: "limit" }, h("strong", {}, "What limits it: "), all.limit, "."),
    h("div", { class: "totals" }, cards.map(([title, value, note]) => h("div", { class: "total" },
      h("p", { class: "name" }, title), h("p", { class: "value" }, value), h("p", { class: "note" }, note)))));
}

const seen = (all) => {
  const taking = all.filter((cluster) => cluster.state !== "Excluded");
  return `${taking.filter((cluster) => cluster.state !== "Unreachable").length}/${taking.length}`;
};

function pictures(all, looked) {
  const at = all.series.at || [];
  if (at.length === 0) return [];
  const from = Math.min(at[0], all.now - leastSpan);
  const past = all.now - from;
  const next = all.coming.filter((run) => run.at && run.at - all.now < Math.max(past / 2, 600000)).slice(0, 5);
  const to = next.length ? Math.max(...next.map((run) => run.at)) + past / 20 : all.now;
  const unknown = all.series.unknown || [];
  const axis = { at, from, to, now: all.now, spans: unknown };
  const marks = [
    ...all.events.map((event) => ({ at: event.at, class: event.warning ? "warning" : "event", text: `${time(event.at)} ${event.reason}: ${event.note}` })),
    ...next.map((run) => ({ at: run.at, class: "cron", text: `${time(run.at)} rule ${run.rule} of ${run.from} sets ${run.sets}` })),
  ];
  const specs = [{
    ...axis, title: "Replicas", marks, format: count, least: 1, height: 220,
    bands: [{ upper: all.series.max, lower: all.series.min.map((n) => n ?? 0), class: "bounds" }],
    lines: [{ name: "max", values: all.series.max, class: "most" }, { name: "min", values: all.series.min, class: "least" },
      { name: "desired", values: all.series.desired, class: "desired" }, { name: "ready", values: all.series.ready, class: "ready" }]
      .filter((line) => line.values.some((value) => value !== null)),
  }];
  if (all.series.clusters.length > 0) {
    specs.push({ ...axis, title: "Replicas by cluster", format: count, least: 1, height: 220,
      stack: all.series.clusters.map((cluster) => ({ name: cluster.name, values: cluster.replicas })) });
  }
  for (const cluster of all.series.clusters.filter((one) => one.max)) {
    specs.push({ ...axis, spans: cluster.unknown || [], title: cluster.name, note: "within its own bounds", format: count, least: 1, height: 150,
      bands: [{ upper: cluster.max, lower: cluster.min.map((n) => n ?? 0), class: "bounds" }],
      lines: [{ name: "max", values: cluster.max, class: "most" }, { name: "min", values: cluster.min, class: "least" },
        { name: "replicas", values: cluster.replicas, class: "desired" }] });
  }
  all.series.metrics.forEach((metric, i) => {
    const unit = (all.metrics[i] || {}).unit;
    specs.push({ ...axis, title: metric.name, note: "against its target", unit, format: (value) => amount(value, unit), height: 150,
      lines: [{ name: "target", values: metric.target, class: "most" }, { name: "value", values: metric.value, class: "metric" }] });
  });
  const { state, limit } = all.series;
  looked.specs = specs;
  const keys = [specs[0].marks.length > 0 && h("p", { class: "note keys" }, h("span", { class: "dot event" }), "Event", h("span", { class: "dot warning" }), "Warning",
    h("span", { class: "flag" }), "rule that runs; what they say stands below"),
  unknown.length > 0 && h("p", { class: "note keys" }, h("span", { class: "hatched" }), "not known: what is drawn is what was known last")].filter(Boolean);
  const why = (moment) => whyAt(unknown, moment);
  return [...[recordNote(all)].flat(), timeline({ id: "past", title: "Timeline", at, specs, looked, now: "Now", below: keys,
    said: (i, moment) => [badge(state[i]), limit[i] && h("span", {}, `limited by ${limit[i]}`), why(moment) && h("span", {}, why(moment))],
    words: (i) => [worded(state[i]), limit[i] && `limited by ${limit[i]}`, why(at[i])].filter(Boolean).join(", ") }),
  valuesTable(at, specs, [{ name: "State", cell: (i) => worded(state[i]) }])].filter(Boolean);
}

// recordNote says how far back a record goes, and what is wrong with it.
function recordNote(all) {
  const of = all.recorded;
  if (all.reading) return h("p", { class: "note" }, "The record is being read.");
  return [all.recordTrouble && h("p", { class: "callout" }, all.recordTrouble),
    of && h("p", { class: "note" }, `${count(of.decisions)} decisions are recorded, from ${day(of.from)} to ${day(of.to)}.`,
      of.restarted && ` The record was restarted ${day(of.restarted)}, as its keeper was started again or gave way to another: what was decided before is known only as far as this command has read it.`,
      of.torn && " The end of the record is torn off, or damaged.")].filter(Boolean);
}

const section = (id, title, ...content) => h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...content);

function clusters(all) {
  if (all.clusters.length === 0) return null;
  const column = (name, key) => all.clusters.some((cluster) => cluster[key] !== undefined) && { name, number: true, cell: (cluster) => (cluster[key] === undefined ? "" : count(cluster[key])) };
  const trouble = (state) => ["Unreachable", "Conflict", "Saturated", "ScaledToZero", "Excluded"].indexOf(state) >>> 0;
  const rows = [...all.clusters].sort((a, b) => trouble(a.state) - trouble(b.state) || (a.name < b.name ? -1 : 1));
  return section("clusters", "Clusters", table("Clusters that take part", [
    { name: "Cluster", head: true, cell: (cluster) => cluster.name }, { name: "State", cell: (cluster) => badge(cluster.state) },
    column("Replicas", "replicas"), column("Assigned", "assigned"), column("Ready", "ready"), column("Min", "min"), column("Max", "max"), column("Wants", "wants"),
    column("Room", "room"), column("Sized", "sized"), all.clusters.some((cluster) => cluster.age !== undefined) &&
      { name: "Age of metrics", number: true, cell: (cluster) => (cluster.age === undefined ? "" : `${cluster.age} s`) },
    { name: "Why", cell: (cluster) => [cluster.reason, cluster.message].filter(Boolean).join(": ") }].filter(Boolean), rows));
}

function sizes(all) {
  const of = all.sizes;
  if (!of) return null;
  return section("sizes", "Sizes", h("p", {}, `Mode ${of.mode}`, of.since && `; unchanged for ${span(all.now - of.since)}`, of.costPerHour && `; what is saved costs ${of.costPerHour} an hour`),
    of.containers.length === 0 ? h("p", {}, "Nothing is recommended yet.") : table("Recommended sizes", [
      { name: "Container", head: true, cell: (line) => line.container }, { name: "Resource", cell: (line) => line.resource },
      { name: "Recommended", number: true, cell: (line) => line.target }, { name: "By use", number: true, cell: (line) => line.byUse },
      { name: "Too little below", number: true, cell: (line) => line.lower }, { name: "Waste above", number: true, cell: (line) => line.upper },
      { name: "Capped by", cell: (line) => line.cappedBy }], of.containers),
    of.savings.length > 0 && table("Savings", [{ name: "All Pods", head: true, cell: (line) => line.resource },
      { name: "Request", number: true, cell: (line) => line.requested }, { name: "Would request", number: true, cell: (line) => line.recommended },
      { name: "Saved", number: true, cell: (line) => line.saved }], of.savings));
}

// sizesOver has what was recommended over the time, and of what use, as far as it is recorded.
function sizesOver(all, looked) {
  const of = all.sizesOver;
  if (!of || !of.at || of.lines.length === 0) return [];
  if (!looked.sizes) looked.sizes = { kept: null };
  const { at, state, unknown } = { unknown: [], ...of };
  const axis = { at, from: Math.min(at[0], all.now - leastSpan), to: all.now, now: all.now, spans: unknown, marks: [], height: 150 };
  const specs = of.lines.map((line) => {
    const unit = line.resource === "memory" ? "B" : "";
    return { ...axis, title: `${line.container}: ${line.resource}`, note: "recommended", unit, format: (value) => amount(value, unit),
      bands: [{ upper: line.upper, lower: line.lower, class: "bounds" }],
      lines: [{ name: "waste above", values: line.upper, class: "most" }, { name: "too little below", values: line.lower, class: "least" },
        { name: "recommended", values: line.target, class: "desired" }, { name: "used", values: line.usage, class: "ready" }] };
  });
  const why = (moment) => whyAt(unknown, moment);
  const notes = [h("p", { class: "note" }, "What is used is what the percentile of the spec comes to, before the margin.", of.others > 0 && ` ${many(of.others, "more container")} not shown.`),
    unknown.length > 0 && h("p", { class: "note keys" }, h("span", { class: "hatched" }), "not known")].filter(Boolean);
  return [timeline({ id: "sizesover", title: "Recorded sizes", at, specs, looked: looked.sizes, now: "Now", below: notes,
    said: (i, moment) => [badge(state[i]), why(moment) && h("span", {}, why(moment))], words: (i) => [worded(state[i]), why(at[i])].filter(Boolean).join(", ") }),
  valuesTable(at, specs, [{ name: "State", cell: (i) => worded(state[i]) }])];
}

function comings(all) {
  if (all.coming.length === 0) return null;
  return section("coming", "Rules to come", table("Runs of rules", [
    { name: "When", head: true, cell: (run) => (run.at ? `${day(run.at)} (in ${span(run.at - all.now)})` : "never") }, { name: "Rule", cell: (run) => run.rule },
    { name: "Of", cell: (run) => run.from }, { name: "Sets", cell: (run) => run.sets }, { name: "Zone", cell: (run) => run.zone }, { name: "Notes", cell: (run) => run.notes }], all.coming));
}

function explanation(all) {
  if (!all.explanation) return null;
  return section("explanation", "Explanation", h("pre", { tabindex: 0, role: "group", "aria-labelledby": "explanation", "data-keep": "explanation" }, all.explanation));
}

function conditions(all) {
  if (all.conditions.length === 0) return null;
  return section("conditions", "Conditions", table("Conditions", [{ name: "Condition", head: true, cell: (one) => one.type }, { name: "Status", cell: (one) => one.status },
    { name: "Reason", cell: (one) => one.reason }, { name: "Message", cell: (one) => one.message }, { name: "Since", cell: (one) => one.since && `${span(all.now - one.since)}` }], all.conditions));
}

function events(all) {
  return section("events", "Events", all.eventsTrouble && h("p", { class: "callout" }, all.eventsTrouble),
    all.events.length === 0 ? !all.eventsTrouble && h("p", {}, "There are none.") : table(many(all.events.length, "Event"), [
      { name: "When", head: true, cell: (event) => `${span(now() - event.at)} ago${event.count > 1 ? `, ${event.count} times` : ""}` },
      { name: "Type", cell: (event) => (event.warning ? "Warning" : "Normal") }, { name: "Reason", cell: (event) => event.reason }, { name: "Message", cell: (event) => event.note }], all.events));
}
