// SPDX-License-Identifier: Apache-2.0

import { h } from "./dom.js";
import { replayView, sweepView } from "./replayview.js";

const page = document.getElementById("main");
const given = JSON.parse(document.getElementById("data").textContent);
const still = page.querySelector(".still");

page.replaceChildren(h("h1", { tabindex: -1 }, (given.replay || given.sweep).title),
  given.replay ? replayView(given.replay, "curves") : sweepView(given.sweep, still));
