// The sheet that opens after a lasso. It shows the number of rows, their predictions, and twelve of them at random.
import {$, afterwards, bar, button, count, fill, h, percent, plural, say} from "./dom.js";
import {acceptGuesses, labelMany} from "./actions.js";
import {line, picture} from "./card.js";
import {chips} from "./chips.js";
import {numeric} from "./numbers.js";
import {getRows} from "./rows.js";
import {colorOf, glyph} from "./palette.js";
import {CERTAIN, NONE, NO_ANSWER, certain, className, offered, on, store, tell} from "./store.js";

const SAMPLE = 12;
const box = $("#sheet");
let all = [];
let around = []; // all rows within the lasso, also those with a label
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
  all = Array.from(rows.filter(row => store.given[row] === NONE && !store.hiddenGuess.has(row)));
  around = Array.from(rows);
  if (!all.length) {
    if (rows.length) say(plural(rows.length, "row") + " chosen, all labeled.");
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
  say(plural(all.length, "unlabeled row") + " chosen.");
}

const kept = () => sample.filter(row => !out.has(row));
const rest = () => all.filter(row => !out.has(row));

function card(row, k) {
  return button(
    [
      pictures[k].image
        ? picture(row, pictures[k].name, "tile-picture")
        : h("span", {class: "body", dir: "auto"}, line(pictures[k], 6)),
      h("span", {class: "caption soft"}, pictures[k].name),
    ],
    () => {
      out.has(row) ? out.delete(row) : out.add(row);
      show();
    },
    {
      class: "pick",
      "aria-pressed": String(!out.has(row)),
      "aria-label": pictures[k].name + (out.has(row) ? ", left out" : ", to be labeled"),
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
      h(
        "span",
        {},
        `Label all ${count(rest().length)} rows as ${name}? Random checks will also be drawn from them, because you ` +
          "have not looked at each.",
      ),
      button("Label " + count(rest().length), () => finish(rest(), true), {class: "primary"}),
      button("No", () => {
        asking = false;
        show();
      }),
    );
  const clear = rest().filter(certain);
  const enter = h("kbd", {}, "↵");
  const text = `Accept the ${plural(clear.length, "guess", "guesses")} with at least ${100 * CERTAIN}%`;
  return h(
    "div",
    {class: "actions"},
    clear.length ? button([text, enter], acceptAll, {class: "primary"}) : null,
    button([`Label these ${kept().length} as `, h("b", {}, name), clear.length ? null : enter], () => finish(kept()), {
      class: clear.length ? null : "primary",
      disabled: !kept().length,
    }),
    all.length > sample.length
      ? button(`Label all ${count(rest().length)} as ${name}…`, () => {
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
          ? sample.length + " of them at random. Leave out those that do not belong."
          : "Leave out those that do not belong.",
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
                  bar(n / all.length, "k" + colorOf(id)),
                  h("span", {class: "number"}, percent(n / all.length)),
                ),
              ),
          ),
        )
      : null,
    chips(
      id => {
        chosen = id;
        asking = false;
        show();
      },
      {pressed: chosen},
    ),
    h("div", {class: "picks" + (store.session.image ? " tiles" : "")}, sample.map(card)),
    buttons(),
  );
}

function acceptAll() {
  acceptGuesses(around.filter(row => !out.has(row)), null);
  finish([]);
}

function finish(rows, unseen = false) {
  if (rows.length && chosen !== null) labelMany(rows, chosen, unseen, unseen ? around.filter(row => !out.has(row)) : []);
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
    if (asking) return;
    rest().some(certain) ? acceptAll() : finish(kept());
  },
};

export function start() {
  on("gathered", afterwards(() => numeric() || open())); // numbers are typed row by row
  on("classes", () => {
    if (sheet.isOpen()) show();
  });
}
