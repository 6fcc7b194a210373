// The note next to the pointer on the map.
import {$, fill, h, sure} from "./dom.js";
import {cells, picture} from "./card.js";
import {getRow} from "./rows.js";
import {NONE, NO_ANSWER, className, guess, store} from "./store.js";
import {glyph} from "./palette.js";
import {guessWord, labelWord, numeric} from "./numbers.js";

const tip = $("#tip");
let wanted = -1;
let timer = 0;

export function hideTip() {
  wanted = -1;
  clearTimeout(timer);
  tip.hidden = true;
}

function verdict(row) {
  const label = store.given[row];
  const seen = guess(row);
  if (label >= 0) return [glyph(label), labelWord(row) + ", given"];
  if (label !== NONE) return ["can't tell"];
  if (store.hiddenGuess.has(row)) return ["random check, guess hidden"];
  if (seen)
    return [
      glyph(seen.id, false),
      numeric() ? guessWord(seen) : className(seen.id) +
        ", " +
        sure(seen.p) +
        (seen.p < 0.8 && store.second[row] !== NO_ANSWER ? "; else " + className(store.second[row]) : ""),
    ];
  return [store.tier === "none" ? "not labeled" : "no prediction"];
}

export function showTip(row, x, y, box) {
  wanted = row;
  clearTimeout(timer);
  timer = setTimeout(async () => {
    const data = await getRow(row);
    if (wanted !== row) return;
    fill(
      tip,
      h("strong", {}, data.name),
      h("span", {class: "verdict"}, ...verdict(row)),
      data.image && picture(row, data.name, "tip-picture"),
      data.text ? h("span", {class: "tip-text"}, data.text.slice(0, 180)) : !data.image && cells(data, 5),
    );
    tip.hidden = false;
    const left = x + 16 + tip.offsetWidth > box.clientWidth ? x - tip.offsetWidth - 14 : x + 14;
    tip.style.setProperty("left", Math.max(4, left) + "px");
    tip.style.setProperty("top", Math.max(4, Math.min(box.clientHeight - tip.offsetHeight - 4, y - 20)) + "px");
  }, 60);
}
