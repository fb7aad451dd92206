// SPDX-License-Identifier: Apache-2.0

import { h } from "./dom.js";
import { count, many, span } from "./format.js";
import { fleet, now } from "./source.js";
import { badge, classOf, glyph, worded } from "./state.js";

// well is true of a member that is as it should be; others stand above, those that do not answer first.
const well = (member) => member.state === "Ready" && !member.standing && !(member.troubles || []).length && member.answered;
const order = ["Silent", "Joining", "Spare", "Ready"];

export function fleetPage() {
  const board = noticeBoard();
  const totals = h("div", { class: "totals" });
  const troubled = h("section", { "aria-labelledby": "troubled" });
  const ready = h("section", { "aria-labelledby": "ready" });
  const held = h("section", { "aria-labelledby": "worst" });
  const root = h("div", {}, h("h1", { tabindex: -1 }, "Fleet"), board.element, totals, troubled, held, ready);
  const tiles = new Map();

  function draw() {
    const focused = root.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    const members = [...fleet.members.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const bad = members.filter((member) => !well(member)).sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
    board.draw();
    totals.replaceChildren(...totalsOf(members));
    place(troubled, "troubled", "Members that need attention", bad, tiles, true);
    place(ready, "ready", "Ready members", members.filter(well), tiles, false);
    worst(held);
    for (const name of tiles.keys()) if (!fleet.members.has(name)) tiles.delete(name);
    if (focused && !root.contains(document.activeElement)) root.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  }
  draw();
  return { root, title: "Fleet", draw, tick: () => tiles.forEach((tile) => tile.tick()) };
}

function totalsOf(members) {
  const of = (state) => members.filter((member) => member.state === state).length;
  const cards = [["Members", count(members.length), `${of("Ready")} ready`, "Ready"]];
  for (const state of ["Silent", "Joining", "Spare"]) if (of(state)) cards.push([state, count(of(state)), "members", state]);
  const pods = members.reduce((sum, member) => sum + member.pods, 0);
  cards.push(["Pods measured", count(pods), members.length === 1 ? "in one member" : "in all members", ""]);
  const rows = [...fleet.autoscalers.values()];
  const troubled = rows.filter((row) => row.severity < 4).length;
  cards.push(["Autoscalers", count(rows.length), troubled ? `${count(troubled)} need attention` : "all as they should be", ""]);
  return cards.map(([name, value, note, state]) => h("div", { class: "total" },
    h("p", { class: "name" }, state && glyph(state), name), h("p", { class: "value" }, value), h("p", { class: "note" }, note)));
}

function place(section, id, title, members, tiles, large) {
  section.hidden = members.length === 0;
  if (section.hidden) {
    section.replaceChildren();
    return;
  }
  let list = section.querySelector("ul");
  if (!list) {
    list = h("ul", { class: large ? "tiles large" : "tiles" });
    section.replaceChildren(h("h2", { id }), list);
  }
  section.firstChild.replaceChildren(title, h("span", { class: "howmany" }, count(members.length)));
  const wanted = members.map((member) => tileOf(member, tiles, large).element);
  const same = wanted.length === list.children.length && wanted.every((element, i) => element === list.children[i]);
  if (!same) list.replaceChildren(...wanted);
}

// tileOf makes the tile of a member, or changes the one that there is: no more of it than is another.
function tileOf(member, tiles, large) {
  const text = JSON.stringify({ ...member, answered: 0, pods: 0, large });
  let tile = tiles.get(member.name);
  if (tile && tile.text === text) {
    tile.member = member;
    tile.tick();
    return tile;
  }
  const figures = h("span", { class: "tilefigures" });
  const link = h("a", { href: `#/member/${encodeURIComponent(member.name)}`, class: `tile ${classOf(member.standing || member.state)}` },
    h("span", { class: "tilename" }, glyph(member.state), h("strong", {}, member.name), member.hub && h("em", {}, "hub")),
    h("span", { class: "tilestate" }, [worded(member.state), member.standing].filter(Boolean).join(", "),
      member.state !== "Ready" && member.reason && `: ${member.reason}`),
    figures, large && h("span", { class: "tilewhy" }, member.message || (member.troubles || []).join(" ")));
  const element = h("li", { class: tile && tile.member.state !== member.state && "changed" }, link);
  tile = { element, member, text, tick: () => {
    const age = large ? ageOf(tile.member) : `${span(now() - tile.member.answered)} ago`;
    figures.textContent = `${many(tile.member.pods, "Pod")} · ${age}`;
  } };
  tile.tick();
  tiles.set(member.name, tile);
  return tile;
}

export function ageOf(member) {
  return member.answered ? `answered ${span(now() - member.answered)} ago` : "never answered";
}

function worst(section) {
  const rows = [...fleet.autoscalers.values()].filter((row) => row.severity < 4)
    .sort((a, b) => a.severity - b.severity || (a.id < b.id ? -1 : 1));
  const text = JSON.stringify([rows.length, ...rows.slice(0, 6).map((row) => [row.id, row.state, row.why])]);
  if (section.dataset.text === text) return;
  section.dataset.text = text;
  section.hidden = rows.length === 0;
  section.replaceChildren(
    h("h2", { id: "worst" }, "Autoscalers that need attention", h("span", { class: "howmany" }, count(rows.length))),
    h("ul", { class: "worst" }, rows.slice(0, 6).map((row) => h("li", {}, h("a", { href: `#/autoscaler/${row.id}` },
      badge(row.state), h("strong", {}, `${row.namespace}/${row.name}`), h("span", { class: "why" }, row.why || row.kind))))),
    h("p", {}, rows.length > 6 && h("a", { href: "#/autoscalers" }, `All ${count(rows.length)}`)));
}

// noticeBoard says what is not shown, and why; it is heard only when that is another.
export function noticeBoard() {
  const element = h("div", { class: "notices", role: "status" });
  const draw = () => {
    const all = [...fleet.loading.map((about) => ({ about, text: "Being read …" })), ...fleet.notices];
    const text = JSON.stringify(all);
    if (element.dataset.text === text) return;
    element.dataset.text = text;
    element.replaceChildren(...all.map((notice) => h("p", {}, h("strong", {}, notice.about), " ", notice.text)));
  };
  draw();
  return { element, draw };
}
