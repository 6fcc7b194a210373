// The questions after this one, as pictures or lines of text.
import {$, afterwards, button, fill, h} from "./dom.js";
import {go, open} from "./actions.js";
import {line, picture} from "./card.js";
import {getRows} from "./rows.js";
import {on, store} from "./store.js";

const MOST = 6;
const rest = $("#rest");
let listed = 0;

const entry = (item, data) =>
  h(
    "li",
    {},
    button(
      data.image
        ? picture(item.row, data.name, "mini")
        : [h("b", {}, data.name), h("span", {class: "soft cut", dir: "auto"}, line(data))],
      () => go(item.row, item.via),
      {class: data.image ? "entry tile-entry" : "entry", "data-row": item.row, "aria-label": data.image ? data.name : null},
    ),
  );

async function show() {
  const items = open()
    .filter(item => item.row !== store.current?.row)
    .slice(0, MOST);
  const mine = ++listed;
  const rows = await getRows(items.map(item => item.row));
  if (mine !== listed) return;
  rest.classList.toggle("strip", Boolean(store.session?.image));
  fill(
    rest,
    items.map((item, k) => entry(item, rows[k])),
  );
  $("#coming").hidden = !items.length;
}

export function start() {
  on("queue current labels", afterwards(show));
}
