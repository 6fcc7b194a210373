// The reasons for a guess, with one line, the two most similar labeled rows, and the rest folded.
import {$, button, count, fill, h, percent, plural} from "./dom.js";
import {json} from "./api.js";
import {go} from "./actions.js";
import {line, picture} from "./card.js";
import {getRows} from "./rows.js";
import {className, store} from "./store.js";
import {glyph} from "./palette.js";
import {numeric, rangeOf, valueWord} from "./numbers.js";

const SIMILAR = 2;
const box = $("#reasons");
let open = false; // whether the rest is unfolded

const shortened = text => (text.length > 40 ? text.slice(0, 39) + "…" : text);

function lookAhead(changes) {
  if (!changes) return h("p", {class: "soft ahead"}, "Computing what each label would change…");
  if (!changes.length) return null;
  if (changes.every(one => one.changes === 0))
    return h("p", {class: "ahead"}, "Its label would change no other prediction.");
  return h(
    "p",
    {class: "ahead"},
    changes
      .map((one, k) => [
        k ? ", " : "",
        h("b", {}, className(one.class)),
        k ? " " + count(one.changes) : " would change " + plural(one.changes, "prediction"),
      ])
      .flat(),
    ".",
  );
}

function families(why) {
  const likely = why.probabilities[0]?.[0];
  const other = why.families.filter(one => one.class !== likely);
  if (!why.families.length) return null;
  if (!other.length) return h("p", {}, "All " + why.families.length + " methods agree.");
  return h(
    "p",
    {},
    "Methods that disagree: ",
    other
      .map((one, k) => [k ? ", " : "", one.name, " (", h("b", {}, className(one.class)), ", weight " + percent(one.weight) + ")"])
      .flat(),
    ".",
  );
}

function unusual(why) {
  const told = (why.cells ?? []).filter(([column, text]) => text !== "" && column !== store.session.text && column !== store.session.image);
  if (!told.length) return null;
  return h(
    "p",
    {},
    "Unusual in this row: ",
    told.map(([column, text], k) => [k ? ", " : "", h("b", {}, column), " " + shortened(text)]).flat(),
    ".",
  );
}

const similar = (one, data) =>
  h(
    "li",
    {},
    button(
      [
        data.image ? picture(one.row, data.name, "mini") : null,
        h(
          "span",
          {class: "entry-text"},
          h(
            "span",
            {class: "caption"},
            glyph(numeric() ? rangeOf(one.class) : one.class),
            h("b", {}, valueWord(one.class)),
            h("span", {class: "soft"}, " " + data.name),
          ),
          data.image && !data.text ? null : h("span", {class: "mini-text", dir: "auto"}, line(data)),
        ),
      ],
      () => go(one.row, "click"),
      {class: "entry"},
    ),
  );

// Shows the reasons for a row and returns them. null hides them, for a random check or without a row.
export async function showReasons(row, current) {
  if (row === null || store.tier === "none") {
    fill(box);
    return null;
  }
  let why;
  try {
    why = await json("/api/why/" + row);
  } catch {
    return null;
  }
  const near = why.near.slice(0, SIMILAR);
  const rows = await getRows(near.map(one => one.row));
  if (!current()) return null;
  const more = [families(why), unusual(why), why.probabilities.length ? lookAhead(why.if) : null].filter(Boolean);
  const rest = more.length ? h("details", {open}, h("summary", {}, "More reasons"), more) : null;
  rest?.addEventListener("toggle", () => {
    open = rest.open;
  });
  fill(
    box,
    why.line ? h("p", {class: "reason", dir: "auto"}, why.line) : null,
    near.length ? [h("h3", {}, "Similar labeled rows"), h("ul", {class: "similar"}, near.map((one, k) => similar(one, rows[k])))] : null,
    rest,
  );
  return why;
}
