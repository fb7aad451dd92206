// SPDX-License-Identifier: Apache-2.0

import { autoscalerPage } from "./autoscalerpage.js";
import { fleetPage } from "./fleetpage.js";
import { day, span } from "./format.js";
import { listPage } from "./listpage.js";
import { memberPage } from "./memberpage.js";
import { begin, fleet, listen, live, now } from "./source.js";
import { worded } from "./state.js";

const main = document.getElementById("main");
const announcer = document.getElementById("announcer");
let shown = null;

function pageAt(path) {
  const [, what, ...rest] = path.split("/").map(decodeURIComponent);
  if (what === "autoscalers") return listPage();
  if (what === "autoscaler") return autoscalerPage(rest.join("/"));
  if (what === "member") return memberPage(rest.join("/"));
  return fleetPage();
}

function go(focus) {
  const path = location.hash.slice(1) || "/";
  if (!path.startsWith("/")) return; // the link that skips to the content
  if (shown && shown.end) shown.end();
  shown = pageAt(path);
  document.title = `${shown.title} – fleetscale`;
  main.replaceChildren(shown.root);
  for (const link of document.querySelectorAll("nav a")) {
    const to = link.getAttribute("href").slice(1);
    const below = (to === "/") === !path.startsWith("/autoscaler"); // a member is below the fleet
    if (below) link.setAttribute("aria-current", to === path ? "page" : "true");
    else link.removeAttribute("aria-current");
  }
  if (focus) {
    scrollTo(0, 0);
    main.querySelector("h1").focus({ preventScroll: true });
  }
}

// announce tells who does not see it which states have changed; many at once are counted.
function announce(change) {
  if (change.whole) return;
  const all = [...change.members, ...change.autoscalers].filter((one) => {
    const old = change.before.get(one.id || one.name);
    return old && old.state !== one.state;
  });
  if (all.length === 0) return;
  announcer.textContent = all.length > 3 ? `${all.length} members and autoscalers have changed their state`
    : all.map((one) => `${one.id ? `${one.namespace}/${one.name}` : one.name} is now ${worded(one.state)}`).join(". ");
}

function frame() {
  document.getElementById("hub").textContent = fleet.hub;
  document.getElementById("since").textContent = live ? `Watched for ${span(now() - fleet.since)}.`
    : `As it was on ${day(now())}. This is a file; it does not change.`;
}

// greet says who reads, where many do, with a way out for who has logged in.
function greet() {
  const at = document.getElementById("reader");
  if (!fleet.reader || !at.hidden) return;
  at.append(fleet.reader.name);
  if (fleet.reader.login) {
    const form = document.createElement("form");
    form.method = "post";
    form.action = "/logout";
    const button = document.createElement("button");
    button.textContent = "Log out";
    form.append(button);
    at.append(form);
  }
  at.hidden = false;
}

function connected(yes) {
  const at = document.getElementById("connection");
  at.textContent = yes ? "Live" : fleet.reader ? "Lost: load the page again, to log in again if need be" : "Lost: is the command still running?";
  at.className = yes ? "live" : "lost";
}

// together is several changes as one, so that each frame draws once.
function together(changes) {
  const all = { whole: changes.some((change) => change.whole), autoscalers: [], gone: [] };
  for (const change of changes) {
    all.autoscalers.push(...change.autoscalers);
    all.gone.push(...change.gone);
  }
  return all;
}

let due = [];
listen((change) => {
  announce(change);
  frame();
  greet();
  if (!shown) {
    go(false);
    return;
  }
  if (due.push(change) > 1) return;
  requestAnimationFrame(() => {
    const changes = due;
    due = [];
    shown.draw(together(changes));
  });
});
addEventListener("hashchange", () => go(true));
if (live) {
  setInterval(() => { frame(); if (shown && shown.tick) shown.tick(); }, 1000);
  setInterval(() => { if (shown && shown.slow) shown.slow(); }, 10000);
}
begin(connected);
