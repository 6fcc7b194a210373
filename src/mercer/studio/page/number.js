// A field for the number of the open row, with the prediction, its interval, and its place among all numbers.
import {button, fill, h} from "./dom.js";
import {accept, labelCurrent} from "./actions.js";
import {guessWord, numberText, parsed, predictedNumber} from "./numbers.js";
import {NONE, store, tell} from "./store.js";

const field = h("input", {
  type: "text",
  id: "number",
  inputmode: "decimal",
  maxlength: 40,
  placeholder: "Number",
  "aria-label": "Number of this row",
  autocomplete: "off",
});
const agree = button("", accept, {id: "accept-number"});
const form = h("form", {class: "field", onsubmit: submit}, field, h("button", {class: "primary"}, "Save"), agree);
const predicted = h("p", {class: "predicted-number"});
const scale = h(
  "div",
  {class: "number-scale", "aria-hidden": "true"},
  h("div", {class: "range"}, h("i"), h("b")),
  h("p", {class: "ends soft"}, h("span"), h("span")),
);
export const numberBox = h("div", {class: "number-box"}, predicted, scale, form);
let row = -1;

// Shows the label of a row and its guess, which may be null.
export function paintNumber(at, label, seen) {
  if (at !== row) field.value = label >= 0 ? numberText(store.value[at]) : "";
  row = at;
  const known = label >= 0 ? ["Labeled ", h("b", {}, numberText(store.value[at])), seen ? ". Predicted " : ""] : ["Predicted "];
  fill(
    predicted,
    seen || label >= 0 ? known : h("span", {class: "soft"}, "Type the number of this row, then Enter."),
    seen ? [h("b", {}, numberText(predictedNumber(seen))), seen.reach > 0 ? interval(seen) : null] : null,
  );
  agree.hidden = !seen || label !== NONE;
  fill(agree, "Accept " + (seen ? numberText(predictedNumber(seen)) : ""), h("kbd", {}, "↵"));
  mark(seen);
}

const interval = seen => h("span", {class: "soft"}, " (90% interval " + ends(seen).map(numberText).join(" to ") + ")");
const ends = seen => [-1, 1].map(sign => predictedNumber({number: seen.number + sign * seen.reach, reach: seen.reach}));

// Draws the interval between the lowest and the highest number.
function mark(seen) {
  scale.hidden = !seen || !store.span || !(store.span[1] > store.span[0]);
  if (scale.hidden) return;
  const [least, most] = store.span;
  const at = value => 100 * Math.max(0, Math.min(1, (value - least) / (most - least)));
  const [bar, point] = scale.firstChild.children;
  const left = at(seen.number - seen.reach);
  bar.style.setProperty("left", left + "%");
  bar.style.setProperty("width", at(seen.number + seen.reach) - left + "%");
  point.style.setProperty("left", at(seen.number) + "%");
  const [low, high] = scale.lastChild.children;
  for (const [end, value] of [[low, least], [high, most]])
    end.textContent = numberText(predictedNumber({number: value, reach: most - least}));
}

// Begins the number with a digit that was typed anywhere.
export function type(key) {
  field.value = key;
  field.focus();
}

function submit(event) {
  event.preventDefault();
  if (field.value.trim() === "") {
    accept();
    return;
  }
  const value = parsed(field.value);
  if (Number.isNaN(value)) {
    tell("refused", new Error(`"${field.value.trim()}" is not a number. Type one such as 12.5.`));
    return;
  }
  row = -1; // the field is empty for the next row
  labelCurrent(value);
  if (!matchMedia("(pointer: coarse)").matches) field.blur(); // shortcuts work again; a phone keeps its keyboard
}

field.addEventListener("keydown", event => {
  if (event.key !== "Escape") return;
  row = -1;
  field.blur();
  tell("current");
});
