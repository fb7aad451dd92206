// SPDX-License-Identifier: Apache-2.0

import { h, table } from "./dom.js";
import { whyAt } from "./chart.js";
import { count, short } from "./format.js";
import { timeline, valuesTable } from "./timeline.js";

// replayView is what a replay comes to: what was beside what would be, as numbers and as curves. Id tells it from what else is on a page.
export function replayView(all, id) {
  const at = all.at, end = at[at.length - 1];
  const axis = { at, from: at[0], to: Math.max(end, at[0] + 1000), now: end, spans: all.spans || [], marks: [] };
  const sides = (name, was, would) => [{ name: all.changed ? `${name} as it was` : name, values: was, class: "was" },
    all.changed && { name: `${name} as it would be`, values: would, class: "desired" }].filter(Boolean);
  const specs = all.sizes ? all.sizes.map((lines) => ({ ...axis, title: lines.name, format: short, height: 200,
    lines: [...sides(lines.name, lines.was, lines.would), { name: "in fact", values: lines.inFact, class: "most" }] })) : [
    { ...axis, title: "Replicas", format: count, least: 1, height: 240, lines: [
      { name: all.changed ? "max as it was" : "max", values: all.was.max, class: "most" },
      all.changed && { name: "max as it would be", values: all.would.max, class: "least" },
      ...sides("replicas", all.was.replicas, all.would.replicas)].filter(Boolean) },
    { ...axis, title: "Use", note: `in percent ${all.of}`, format: (value) => `${count(value)} %`, height: 180, lines: [
      { name: "bound", values: at.map(() => all.bound), class: "most" }, ...sides("use", all.was.use, all.would.use)] },
  ];
  specs.push(...(all.clusters || []).map((cluster) => clusterSpec(all, axis, cluster)));
  const about = (i) => (whyAt(all.spans, at[i]) ? `load not known: ${whyAt(all.spans, at[i])}` : "");
  const columns = [{ name: "Sum", head: true, cell: (row) => row.name }, { name: "As it was", number: true, cell: (row) => row.was },
    all.changed && { name: "As it would be", number: true, cell: (row) => row.would }].filter(Boolean);
  return h("div", {}, (all.set || []).length > 0 && h("p", {}, "With ", all.set.map((one) => [h("code", {}, one), " "])),
    h("ul", { class: "notes" }, all.notes.map((note) => h("li", {}, note))),
    table("What it comes to", columns, all.rows), unknowns(all.unknown),
    timeline({ id, title: "Curves", at, specs, looked: {}, now: "At the end", said: (i) => [about(i)], words: about,
      below: (all.spans || []).length > 0 && h("p", { class: "note keys" }, h("span", { class: "hatched" }), "the load is not known") }),
    valuesTable(at, specs, []), all.assuming && h("p", { class: "note" }, all.assuming));
}

// clusterSpec is the picture of a cluster: what it ran on both sides, between its bounds if it has its own.
function clusterSpec(all, axis, { name, was, would, spans }) {
  const both = (of, key, classes) => [{ name: all.changed ? `${of} as it was` : of, values: was[key], class: classes[0] },
    all.changed && { name: `${of} as it would be`, values: would[key], class: classes[1] }].filter(Boolean);
  const within = all.changed ? would : was;
  const note = within.max ? "within its own bounds" : all.estimated && "as it would be: an estimate, by its share of all replicas";
  return { ...axis, spans: spans || [], title: name, note, format: (n) => count(Math.round(n * 10) / 10), least: 1, height: 150,
    bands: within.max ? [{ upper: within.max, lower: within.min.map((n) => n ?? 0), class: "bounds" }] : [],
    lines: [...(within.max ? [...both("max", "max", ["most", "least"]), ...both("min", "min", ["most", "least"])] : []),
      ...both("replicas", "replicas", ["was", "desired"])] };
}

// sweepView is a table, of several targets and which of them does; picture is what they take.
export function sweepView(all, picture) {
  return h("div", {}, h("ul", { class: "notes" }, all.notes.map((note) => h("li", {}, note))),
    h("p", { class: "callout" }, all.advice), unknowns(all.unknown),
    table(all.caption || "Targets", all.head.map((name, i) => ({ name, head: i === 0, number: i > 0, cell: (row) => row[i] })), all.rows),
    picture && h("p", {}, picture), h("p", { class: "note" }, all.assuming));
}

const unknowns = (all) => (all || []).map((text) => h("p", { class: "callout limit" }, text));
