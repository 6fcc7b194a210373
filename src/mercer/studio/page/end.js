// The way to the goal at the top, and a card when it is reached.
import {$, button, fill, h, percent, plural} from "./dom.js";
import {post} from "./api.js";
import {exports} from "./top.js";
import {numberText, numeric} from "./numbers.js";
import {openTab} from "./tabs.js";
import {on, store, tell} from "./store.js";

const HIGHER = [0.95, 0.98, 0.99];
let left = null; // the goal at which a person went on

function bar() {
  const {random, stop} = store.accuracy ?? {};
  const goal = store.session?.goal;
  const box = $("#goal");
  box.hidden = !stop || store.tier === "none";
  $("#certified").hidden = !stop?.reached;
  $("#certified").textContent = stop?.reached ? "Certified: at least " + percent(goal) : "";
  if (box.hidden) return;
  const done = random ? random.checks - random.waiting : 0;
  const all = stop.more === null ? null : done + stop.more;
  const share = stop.reached ? 1 : all ? done / all : random ? Math.max(0, random.low / goal) : 0;
  $(".goal-bar i").style.setProperty("width", 100 * Math.min(1, share) + "%");
  box.classList.toggle("good", stop.reached);
  $("#goal-text").textContent = stop.reached
    ? plural(done, "check")
    : numeric() && !store.session.tolerance
    ? "set a tolerance"
    : all === null
      ? plural(done, "check") + ", too few correct so far"
      : "check " + done + " of about " + all + " for " + percent(goal);
}

const correct = () => (numeric() ? "within ± " + numberText(store.session.tolerance) : "correct");

function card() {
  const {random, stop} = store.accuracy ?? {};
  const goal = store.session?.goal;
  const box = $("#end");
  box.hidden = !stop?.reached || left === goal;
  if (box.hidden) return;
  const higher = HIGHER.find(one => one > goal);
  fill(
    box,
    h("h2", {}, "Certified: at least " + percent(goal) + " of the predictions are " + correct()),
    h(
      "p",
      {},
      `${random.right} of ${plural(random.checks, "random check")} were ${correct()}. The statement is about all rows that no one looked at, with 95% confidence.`,
    ),
    h(
      "div",
      {class: "actions"},
      button("Export the table", exports, {class: "primary", id: "end-export"}),
      higher ? button("Raise the goal to " + percent(higher), () => raise(higher)) : null,
      button("Go on", goOn, {id: "go-on"}),
    ),
  );
}

// Goes back to the questions. The card covers the open row, so the keys of the classes call this first.
export function goOn() {
  left = store.session.goal;
  card();
}
export const ended = () => !$("#end").hidden;

async function raise(goal) {
  try {
    Object.assign(store.session, await post("/api/settings", {goal}));
    tell("session");
    tell("accuracy");
  } catch (error) {
    tell("refused", error);
  }
}

export function start() {
  $("#goal-text").addEventListener("click", () => openTab("accuracy"));
  on("measured session answers", () => {
    bar();
    card();
  });
}
