// SPDX-License-Identifier: Apache-2.0

import { h } from "./dom.js";
import { count, many, span } from "./format.js";
import { noticeBoard } from "./fleetpage.js";
import { fleet, now } from "./source.js";
import { badge, worded } from "./state.js";

const first = 100; // so many lines are made at once; more are asked for

const chosen = { text: "", kind: "", state: null, all: false }; // kept while another page is looked at

const found = (row) => {
  const words = chosen.text.toLowerCase().split(/\s+/).filter(Boolean);
  const text = `${row.namespace}/${row.name} ${row.target} ${row.kind} ${row.why || ""}`.toLowerCase();
  return (!chosen.kind || row.kind === chosen.kind) && words.every((word) => text.includes(word));
};

export function listPage() {
  const board = noticeBoard();
  const lines = new Map(); // by id: no more is made again than what is another
  const states = h("div", { class: "chips", role: "group", "aria-label": "State" });
  const heard = h("p", { class: "found", role: "status" });
  const rows = h("tbody");
  const more = h("p");
  const kind = h("select", { onchange: () => { chosen.kind = kind.value; chosen.all = false; draw(); } },
    [["", "All kinds"], ["FederatedHPA", "FederatedHPA"], ["MultidimPodAutoscaler", "MultidimPodAutoscaler"], ["CronFederatedHPA", "CronFederatedHPA"]]
      .map(([value, name]) => h("option", { value, selected: value === chosen.kind }, name)));
  const search = h("input", { type: "search", value: chosen.text, placeholder: "Name, workload or reason", autocomplete: "off",
    oninput: () => { chosen.text = search.value; chosen.all = false; draw(); } });
  const head = ["State", "Autoscaler", "Replicas", "Metrics", "Clusters", "Why"];
  const root = h("div", {}, h("h1", { tabindex: -1 }, "Autoscalers"), board.element,
    h("div", { class: "filters", role: "search" }, h("label", {}, "Search ", search), h("label", {}, "Kind ", kind), states), heard,
    h("div", { class: "scroll", role: "group", "aria-label": "Autoscalers", tabindex: 0 }, h("table", { class: "autoscalers" },
      h("caption", { class: "unseen" }, "Autoscalers, the worst state first"),
      h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col" }, name)))), rows)), more);

  function draw() {
    const all = [...fleet.autoscalers.values()].filter(found).sort((a, b) => a.severity - b.severity || (a.id < b.id ? -1 : 1));
    drawChips(all);
    const shown = chosen.state === null ? all : all.filter((row) => row.state === chosen.state);
    const cut = chosen.all ? shown : shown.slice(0, first);
    drawLines(cut);
    heard.textContent = many(shown.length, "autoscaler");
    more.replaceChildren();
    if (cut.length < shown.length) {
      more.append(h("button", { type: "button", onclick: () => { chosen.all = true; draw(); } }, `Show all ${count(shown.length)}`));
    }
    board.draw();
  }

  function drawLines(cut) {
    const focused = rows.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    const wanted = cut.map((row) => {
      if (lines.get(row.id)?.row !== row) lines.set(row.id, { row, element: line(row) });
      return lines.get(row.id).element;
    });
    if (wanted.length === rows.children.length && wanted.every((element, i) => element === rows.children[i])) return;
    rows.replaceChildren(...wanted);
    for (const id of lines.keys()) if (!fleet.autoscalers.has(id)) lines.delete(id);
    if (focused) rows.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  function drawChips(all) {
    const numbers = new Map();
    for (const row of all) numbers.set(row.state, (numbers.get(row.state) || 0) + 1);
    if (chosen.state !== null && !numbers.has(chosen.state)) numbers.set(chosen.state, 0);
    const held = states.contains(document.activeElement) ? document.activeElement.dataset.state : undefined;
    const chip = (name, state, n) => h("button", { type: "button", class: "chip", "aria-pressed": String(chosen.state === state),
      "data-state": state === null ? "*" : state, onclick: () => { chosen.state = state; chosen.all = false; draw(); } },
    state === null ? name : badge(state), h("span", { class: "howmany" }, count(n)));
    states.replaceChildren(chip("All", null, all.length), ...[...numbers].map(([state, n]) => chip(worded(state), state, n)));
    if (held !== undefined) [...states.children].find((button) => button.dataset.state === held)?.focus();
  }
  draw();
  return { root, title: "Autoscalers", draw };
}

function line(row) {
  return h("tr", {}, h("td", {}, badge(row.state)),
    h("th", { scope: "row" }, h("a", { href: `#/autoscaler/${row.id}` }, `${row.namespace}/${row.name}`), h("small", {}, `${row.kind} of ${row.target}`)),
    h("td", {}, replicas(row)), h("td", {}, row.targets || "–"), h("td", { class: "number" }, row.seen || "–"),
    h("td", { class: "why" }, row.why || ""));
}

function replicas(row) {
  if (row.kind === "CronFederatedHPA") return row.next ? `next run in ${span(row.next - now())}` : "no run to come";
  const unknown = row.state && row.desired === undefined && "how many are desired is not known";
  const text = row.ready === undefined ? count(row.desired) : `${count(row.ready)} of ${count(row.desired)}`;
  const bounds = row.max === undefined ? "" : `${count(row.min)} to ${count(row.max)}`;
  return [h("span", { class: "figure" }, text), unknown && h("small", {}, unknown), bounds && h("small", {}, bounds), row.sized && h("small", {}, `${row.sized} of the size`)];
}
