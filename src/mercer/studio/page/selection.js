// Below the map: the open and the selected rows, as a table, pictures or texts. It says what the canvas shows.
import {$, afterwards, button, count, fill, h, plural, sure} from "./dom.js";
import {go} from "./actions.js";
import {mini} from "./card.js";
import {getRow, getRows} from "./rows.js";
import {glyph} from "./palette.js";
import {NONE, className, guess, isShown, on, store, tell} from "./store.js";

const PAGE = 40;
const box = $("#selected");
const head = $("#selected-head");
let look = null;
let limit = PAGE;
let turn = 0;

function chosen() {
  if (store.selected.size) return {rows: store.selected.rows(), title: plural(store.selected.size, "selected row")};
  if (store.shown) {
    const rows = [];
    for (let row = 0; row < store.n; row++) if (isShown(row)) rows.push(row);
    return {rows, title: plural(rows.length, "row") + " in the filter"};
  }
  return {rows: [], title: ""};
}

function verdict(row) {
  const label = store.given[row];
  const seen = guess(row);
  if (label >= 0) return [glyph(label), className(label)];
  if (label !== NONE) return ["cannot tell"];
  return seen
    ? [glyph(seen.id, false), h("span", {class: "soft"}, className(seen.id) + ", " + sure(seen.p))]
    : [h("span", {class: "soft"}, store.hiddenGuess.has(row) ? "random check" : "–")];
}

function table(rows) {
  const columns = store.session.columns.slice(0, 8);
  return h(
    "table",
    {},
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", {scope: "col"}, "row"),
        h("th", {scope: "col"}, store.session.target),
        columns.map(name => h("th", {scope: "col"}, name)),
      ),
    ),
    h(
      "tbody",
      {},
      rows.map(data => {
        const cells = new Map(data.cells);
        return h(
          "tr",
          {class: store.current?.row === data.row ? "at" : ""},
          h(
            "th",
            {scope: "row"},
            button(data.name, () => go(data.row, "click"), {class: "quiet small"}),
          ),
          h("td", {}, ...verdict(data.row)),
          columns.map(name => h("td", {class: "cut"}, cells.get(name) ?? "")),
        );
      }),
    ),
  );
}

const tiles = rows =>
  h(
    "ul",
    {class: "tiles-list"},
    rows.map(data =>
      h(
        "li",
        {},
        button([mini(data), h("span", {class: "caption"}, ...verdict(data.row))], () => go(data.row, "click"), {
          class: "tile",
          "aria-label": data.name,
          "aria-current": store.current?.row === data.row ? "true" : null,
        }),
      ),
    ),
  );

const texts = rows =>
  h(
    "ul",
    {class: "text-list"},
    rows.map(data =>
      h(
        "li",
        {},
        button(
          [
            h("span", {class: "caption"}, h("b", {}, data.name), ...verdict(data.row)),
            h("span", {class: "body"}, data.text ?? ""),
          ],
          () => go(data.row, "click"),
          {class: "entry"},
        ),
      ),
    ),
  );

async function show() {
  const {rows, title} = chosen();
  const mine = ++turn;
  const part = Array.from(rows.slice(0, limit));
  const at = store.current?.row;
  const data = await getRows(part);
  const open = at === undefined ? null : await getRow(at);
  if (mine !== turn) return;
  box.hidden = !title;
  if (!title) {
    fill(
      head,
      open ? [h("h2", {}, "Open: " + open.name), h("span", {class: "caption"}, ...verdict(at))] : null,
      h("span", {class: "hint tail"}, "Lasso or filter rows to list them here."),
    );
    return;
  }
  const ways = ["table", store.session.image && "pictures", store.session.text && "texts"].filter(Boolean);
  const way = ways.includes(look) ? look : store.session.image ? "pictures" : store.session.text ? "texts" : "table";
  fill(
    head,
    h("h2", {}, title),
    ways.length > 1
      ? h(
          "span",
          {class: "ways", role: "group", "aria-label": "Show as"},
          ways.map(one =>
            button(
              one,
              () => {
                look = one;
                show();
              },
              {class: "quiet small", "aria-pressed": String(one === way)},
            ),
          ),
        )
      : null,
    store.selected.size ? button("Label them…", () => tell("gathered", "again"), {class: "small"}) : null,
    store.selected.size
      ? button(
          "Clear",
          () => {
            store.selected.clear();
            tell("selection");
          },
          {class: "quiet small"},
        )
      : null,
  );
  fill(
    box,
    part.length ? {table, pictures: tiles, texts}[way](data) : h("p", {class: "hint"}, "No row."),
    rows.length > limit
      ? button(
          "Show " + count(Math.min(PAGE * 4, rows.length - limit)) + " more",
          () => {
            limit += PAGE * 4;
            show();
          },
          {class: "quiet"},
        )
      : null,
  );
}

export function start() {
  const redraw = afterwards(() => {
    if (store.session) show();
  });
  on("selection filter", () => {
    limit = PAGE;
    redraw();
  });
  on("current labels answers session classes", redraw);
}
