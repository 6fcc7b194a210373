// The tab "Rows". It lists the selected rows, or those of the filter, to read and label many at once.
import {$, afterwards, button, count, fill, h, plural, say, sure} from "./dom.js";
import {acceptGuesses, go, labelMany} from "./actions.js";
import {line, picture} from "./card.js";
import {chips} from "./chips.js";
import {only} from "./filters.js";
import {getRows, nameOf} from "./rows.js";
import {guessWord, labelWord, numeric} from "./numbers.js";
import {glyph} from "./palette.js";
import {isOpen, openTab} from "./tabs.js";
import {CERTAIN, NONE, certain, className, guess, isShown, on, store, tell} from "./store.js";

const PAGE = 40;
const ALIKE = 60; // rows that are listed as similar
const ORDERS = {
  near: "most similar first",
  sure: "most certain first",
  doubt: "least certain first",
  high: "highest first",
  low: "lowest first",
  table: "in table order",
};
const unfit = () => [...(numeric() ? ["sure", "doubt"] : ["high", "low"]), ...(like ? [] : ["near"])];
const fits = name => !unfit().includes(name);
const box = $("#selected");
const head = $("#selected-head");
const tools = $("#selected-tools");
const picked = new Set();
const gathered = new Set(); // picked rows that no one looked at, because many were picked at once
let order = null;
let like = null; // the row that the selected rows are like, and the rank of each: {row, rank}
let limit = PAGE;
let turn = 0;
let listed = []; // all rows of the list, in its order
let last = null; // row that was picked last, at which a range begins

const rank = row => (store.given[row] === NONE && !store.hiddenGuess.has(row) ? store.sure[row] : -1);

const number = row => (store.given[row] >= 0 ? store.value[row] : (guess(row)?.number ?? -Infinity));
const usual = () => (numeric() ? "high" : "sure");

function chosen() {
  if (!order || !fits(order)) order = usual();
  const rows = store.selected.size ? Array.from(store.selected.rows()) : [];
  if (!rows.length && store.shown) for (let row = 0; row < store.n; row++) if (isShown(row)) rows.push(row);
  if (order === "near" && like) rows.sort((a, b) => like.rank.get(a) - like.rank.get(b));
  if (order === "sure") rows.sort((a, b) => rank(b) - rank(a));
  if (order === "doubt") rows.sort((a, b) => (rank(a) + 256 * (rank(a) < 0)) - (rank(b) + 256 * (rank(b) < 0)));
  if (order === "high") rows.sort((a, b) => number(b) - number(a) || a - b);
  if (order === "low") rows.sort((a, b) => number(a) - number(b) || a - b);
  return rows;
}

function title(rows) {
  if (like) return plural(rows.length, "row") + " like " + nameOf(like.row);
  if (store.selected.size) return plural(rows.length, "selected row");
  return plural(rows.length, "row") + (only() === null ? " found" : ": " + className(only()));
}

function verdict(row) {
  const label = store.given[row];
  const seen = guess(row);
  if (label >= 0) return [glyph(label), labelWord(row), h("span", {class: "soft"}, " given")];
  if (label !== NONE) return ["can't tell"];
  return seen
    ? [glyph(seen.id, false), guessWord(seen), numeric() ? null : h("span", {class: "soft"}, " " + sure(seen.p))]
    : [h("span", {class: "soft"}, store.hiddenGuess.has(row) ? "random check" : "–")];
}

function pick(row, event) {
  const range = event.shiftKey && last !== null ? listed.slice(...[listed.indexOf(last), listed.indexOf(row)].sort((a, b) => a - b)) : [];
  if (picked.has(row)) for (const one of [...range, row]) drop(one);
  else {
    gather(range);
    picked.add(row);
  }
  last = row;
  show();
}

function gather(rows) {
  for (const row of rows)
    if (!picked.has(row)) {
      picked.add(row);
      gathered.add(row);
    }
}
function drop(row) {
  picked.delete(row);
  gathered.delete(row);
}
function dropAll() {
  picked.clear();
  gathered.clear();
}

const box_of = data =>
  h("input", {
    type: "checkbox",
    class: "picks-row",
    "aria-label": "Select " + data.name,
    checked: picked.has(data.row),
    onclick: event => pick(data.row, event),
  });

const item = data =>
  h(
    "li",
    {class: (picked.has(data.row) ? "picked" : "") + (store.current?.row === data.row ? " at" : ""), "data-row": data.row},
    numeric() ? null : box_of(data),
    button(
      [
        data.image ? picture(data.row, data.name, "tile-picture") : h("span", {class: "body", dir: "auto"}, line(data)),
        h("span", {class: "caption"}, h("span", {}, ...verdict(data.row)), " ", h("span", {class: "soft"}, data.name)),
      ],
      () => go(data.row, "click"),
      {class: "entry", "aria-current": store.current?.row === data.row ? "true" : null},
    ),
  );

const again = change => () => {
  change();
  show();
};

function heading(rows) {
  const choice = h(
    "select",
    {"aria-label": "Order", onchange: again(() => (order = choice.value))},
    Object.entries(ORDERS)
      .filter(([name]) => fits(name))
      .map(([name, text]) => h("option", {value: name, selected: name === order}, text)),
  );
  fill(
    head,
    h("h2", {dir: "auto"}, title(rows)),
    rows.length ? choice : null,
    store.selected.size
      ? button(
          "Clear selection",
          () => {
            store.selected.clear();
            tell("selection");
          },
          {class: "quiet small"},
        )
      : null,
  );
}

// Rows picked one by one count as seen. Random checks are still drawn from the others.
function acts(rows) {
  if (numeric()) {
    fill(tools, rows.length ? h("p", {class: "hint"}, "Click on a row to give it its number.") : null);
    return;
  }
  const open = rows.filter(row => store.given[row] === NONE);
  const clear = open.filter(certain);
  if (picked.size) {
    fill(
      tools,
      h("p", {}, plural(picked.size, "row") + " picked. Label as:"),
      chips(labelPicked),
      button("Clear", again(dropAll), {class: "quiet small"}),
      gathered.size ? h("p", {class: "hint"}, "Random checks will also be drawn from rows that were picked many at once.") : null,
    );
    return;
  }
  fill(
    tools,
    clear.length
      ? button(
          `Accept the ${plural(clear.length, "guess", "guesses")} with at least ${100 * CERTAIN}%`,
          () => acceptGuesses(store.selected.size || only() === null ? rows : null, only()),
          {class: "primary", id: "accept-sure"},
        )
      : null,
    rows.length ? button("Pick the " + Math.min(limit, rows.length) + " shown", again(() => gather(rows.slice(0, limit))), {id: "pick-shown"}) : null,
    open.length
      ? button(`Label all ${count(open.length)}…`, () => {
          store.selected.clear();
          store.selected.addAll(rows);
          tell("selection");
          tell("gathered", "list");
        })
      : null,
  );
}

// Lists the rows that are nearest on the map, which are similar.
export function moreLike(row) {
  const near = Float64Array.from(store.x, (x, k) => (x - store.x[row]) ** 2 + (store.y[k] - store.y[row]) ** 2);
  const rows = Array.from(near.keys()).filter(one => !store.hiddenGuess.has(one) && one !== row);
  const first = rows.sort((a, b) => near[a] - near[b]).slice(0, ALIKE);
  store.selected.clear();
  store.selected.addAll(first);
  tell("selection");
  like = {row, rank: new Map(first.map((one, rank) => [one, rank]))};
  order = "near";
}

export function labelPicked(id) {
  const around = [...picked];
  const unseen = gathered.size > 0;
  dropAll();
  const rows = unseen ? around.filter(row => !store.hiddenGuess.has(row)) : around;
  if (rows.length) labelMany(rows, id, unseen, around, "list");
  else say("These rows are random checks. Open them one by one.");
}
export const picking = () => isOpen("rows") && picked.size > 0;

async function show() {
  const rows = chosen();
  const mine = ++turn;
  const data = await getRows(rows.slice(0, limit));
  if (mine !== turn) return;
  listed = rows;
  $("#rows-count").textContent = store.shown || store.selected.size ? count(rows.length) : "";
  heading(rows);
  acts(rows);
  box.classList.toggle("grid", Boolean(store.session.image));
  const none = store.shown || store.selected.size ? "No row." : `Click on a ${numeric() ? "range" : "class"}, search, or draw a lasso on the map to list rows here.`;
  fill(
    box,
    rows.length ? h("ul", {class: store.session.image ? "tiles-list" : "row-list"}, data.map(item)) : h("p", {class: "empty"}, none),
    rows.length > limit ? button("Show more", again(() => (limit += 4 * PAGE)), {class: "quiet"}) : null,
  );
}

export function start() {
  const redraw = afterwards(() => {
    if (store.session && isOpen("rows")) show();
    else $("#rows-count").textContent = "";
  });
  on("selection filter", kept => {
    if (kept) {
      for (const row of [...picked]) if (!isShown(row)) drop(row); // what a person cannot see is not labeled
      redraw();
      return;
    }
    limit = PAGE;
    like = null;
    if (order === "near") order = usual();
    dropAll();
    if (store.selected.size && !isOpen("rows")) openTab("rows");
    redraw();
  });
  on("labels answers session classes current tab", redraw);
}
