// Why a row has its guess: probabilities, nearest labels, families that disagree, doubt, what each label would change.
import {bar, button, count, fill, h, percent, plural, sure} from "./dom.js";
import {json} from "./api.js";
import {go} from "./actions.js";
import {className, guess} from "./store.js";
import {colourOf, glyph} from "./palette.js";

// The guess as bars; a probability that is not there yet is null.
export function guessBars(probabilities) {
  return h(
    "ul",
    {class: "guess", "aria-label": "Guess"},
    probabilities.map(([id, p]) =>
      h(
        "li",
        {},
        glyph(id, false),
        h("span", {class: "name"}, className(id)),
        bar(p ?? 0, "k" + colourOf(id)),
        h("span", {class: "number"}, p === null ? "" : percent(p)),
      ),
    ),
  );
}

const MARGIN = 0.05; // between the probability and the confidence, which counts classes without labels too
const shortened = text => (text.length > 40 ? text.slice(0, 39) + "…" : text);

function lookAhead(changes) {
  if (!changes)
    return h("p", {class: "soft ahead"}, "What each label would change is computed when nothing else is to do.");
  if (!changes.length) return null;
  if (changes.every(one => one.changes === 0))
    return h("p", {class: "ahead"}, "Its label would change no other answer.");
  return h(
    "p",
    {class: "ahead"},
    changes
      .map((one, k) => [
        "If ",
        h("b", {}, className(one.class)),
        ": " +
          (k ? count(one.changes) : plural(one.changes, "row") + (one.changes === 1 ? " changes" : " change")) +
          ". ",
      ])
      .flat(),
  );
}

function families(why) {
  const likely = why.probabilities[0]?.[0];
  const other = why.families.filter(one => one.class !== likely);
  if (!why.families.length) return null;
  if (!other.length) return h("p", {class: "soft"}, "All " + why.families.length + " families of models agree.");
  return h(
    "p",
    {},
    "Disagree: ",
    other
      .map((one, k) => [
        k ? ", " : "",
        one.name,
        ": ",
        h("b", {}, className(one.class)),
        h("span", {class: "soft"}, " (" + percent(one.weight) + ")"),
      ])
      .flat(),
    ".",
  );
}

function near(why) {
  if (!why.near.length) return null;
  return h(
    "p",
    {class: "near"},
    "Nearest labels: ",
    why.near
      .map((one, k) => [
        k ? " " : "",
        button(
          [glyph(one.class), className(one.class), h("span", {class: "soft"}, " " + one.name)],
          () => go(one.row, "click"),
          {class: "quiet small", "aria-label": one.name + ", labelled " + className(one.class)},
        ),
      ])
      .flat(),
  );
}

// Fills the two boxes for a row: the guess as bars, and the reasons.
export async function showWhy(row, current, bars, reasons) {
  let why;
  try {
    why = await json("/api/why/" + row);
  } catch {
    return;
  }
  if (!current()) return;
  const seen = guess(row);
  const most = why.probabilities[0]?.[1];
  if (why.probabilities.length)
    fill(
      bars,
      guessBars(why.probabilities),
      seen && most - seen.p > MARGIN
        ? h("p", {class: "hint"}, "All in all " + sure(seen.p) + ": some classes may have no label yet.")
        : null,
    );
  const drives = why.drives?.length
    ? h(
        "p",
        {},
        "Cells that speak for it: ",
        why.drives.map(([column, text], k) => [k ? ", " : "", h("b", {}, column), " " + shortened(text)]).flat(),
        ".",
      )
    : null;
  fill(
    reasons,
    why.reason ? h("p", {class: "reason"}, why.reason) : null,
    near(why),
    families(why),
    drives,
    why.doubt === null || why.doubt === undefined
      ? null
      : h("p", {class: "soft"}, "Doubt " + Number(why.doubt).toFixed(2) + " on a scale from 0 to 1."),
    why.probabilities.length ? lookAhead(why.if) : null,
  );
}
