// The sheet that opens over a lasso: how many rows, what they are taken for, twelve of them at random to look at.
import {$, afterwards, bar, button, count, fill, h, percent, plural, say} from "./dom.js";
import {labelMany} from "./actions.js";
import {mini} from "./card.js";
import {chips} from "./chips.js";
import {getRows} from "./rows.js";
import {colourOf, glyph} from "./palette.js";
import {NONE, NO_ANSWER, className, offered, on, store, tell} from "./store.js";

const SAMPLE = 12;
const box = $("#sheet");
let all = [];
let sample = [];
let out = new Set();
let chosen = null;
let asking = false;
let pictures = [];

function draw(rows, k) {
  const pool = rows.slice();
  for (let i = 0; i < k; i++) {
    const j = i + Math.floor(Math.random() * (pool.length - i));
    [pool[i], pool[j]] = [pool[j], pool[i]];
  }
  return pool.slice(0, k);
}

function mix() {
  const tally = new Map();
  for (const row of all)
    if (store.tier !== "none" && store.first[row] !== NO_ANSWER && !store.hiddenGuess.has(row))
      tally.set(store.first[row], (tally.get(store.first[row]) || 0) + 1);
  return [...tally].sort((a, b) => b[1] - a[1]);
}

async function open() {
  const rows = store.selected.rows();
  all = Array.from(rows.filter(row => store.given[row] === NONE));
  if (!all.length) {
    if (rows.length) say(plural(rows.length, "row") + " chosen, all labelled.");
    sheet.close();
    return;
  }
  sample = draw(all, Math.min(SAMPLE, all.length));
  out = new Set();
  asking = false;
  pictures = await getRows(sample);
  chosen = mix()[0]?.[0] ?? offered()[0]?.id ?? null;
  show();
  box.hidden = false;
  say(plural(all.length, "unlabelled row") + " chosen.");
}

const kept = () => sample.filter(row => !out.has(row));

function card(row, k) {
  return button(
    [mini(pictures[k]), h("span", {class: "caption"}, pictures[k].name)],
    () => {
      out.has(row) ? out.delete(row) : out.add(row);
      show();
    },
    {
      class: "pick",
      "aria-pressed": String(!out.has(row)),
      "aria-label": pictures[k].name + (out.has(row) ? ", left out" : ", to be labelled"),
    },
  );
}

function buttons() {
  if (chosen === null) return h("p", {class: "hint"}, "Add a class first.");
  const name = className(chosen);
  if (asking)
    return h(
      "div",
      {class: "actions asking"},
      h("span", {}, `Label all ${count(all.length)} rows as ${name}? They were not looked at one by one.`),
      button("Label " + count(all.length), () => finish(all), {class: "primary"}),
      button("No", () => {
        asking = false;
        show();
      }),
    );
  return h(
    "div",
    {class: "actions"},
    button([`Label these ${kept().length} as `, h("b", {}, name), h("kbd", {}, "↵")], () => finish(kept()), {
      class: "primary",
      disabled: !kept().length,
    }),
    all.length > sample.length
      ? button(`Label all ${count(all.length)} as ${name}…`, () => {
          asking = true;
          show();
        })
      : null,
  );
}

function show() {
  const found = mix();
  fill(
    box,
    h(
      "header",
      {class: "card-head"},
      h("h2", {}, plural(all.length, "row")),
      h(
        "span",
        {class: "soft"},
        all.length > sample.length
          ? sample.length + " of them at random; leave out those that do not belong"
          : "leave out those that do not belong",
      ),
      button("×", () => sheet.close(), {class: "quiet close", "aria-label": "Close"}),
    ),
    found.length
      ? h(
          "div",
          {class: "mix"},
          h(
            "ul",
            {class: "guess"},
            found
              .slice(0, 5)
              .map(([id, n]) =>
                h(
                  "li",
                  {},
                  glyph(id, false),
                  h("span", {class: "name"}, className(id)),
                  bar(n / all.length, "k" + colourOf(id)),
                  h("span", {class: "number"}, percent(n / all.length)),
                ),
              ),
          ),
        )
      : null,
    h("div", {class: "picks"}, sample.map(card)),
    chips(
      id => {
        chosen = id;
        asking = false;
        show();
      },
      {pressed: chosen},
    ),
    buttons(),
  );
}

function finish(rows) {
  if (rows.length && chosen !== null) labelMany(rows, chosen);
  sheet.close();
  store.selected.clear();
  tell("selection");
}

export const sheet = {
  isOpen: () => !box.hidden,
  close: () => {
    box.hidden = true;
  },
  choose: id => {
    chosen = id;
    finish(kept());
  },
  accept: () => {
    if (!asking) finish(kept());
  },
};

export function start() {
  on("gathered", afterwards(open));
  on("classes", () => {
    if (sheet.isOpen()) show();
  });
}
