// Sessions of numbers. Five ranges of the numbers, with equally many rows in each, take the place of the classes on the
// map and in the lists. A label is NaN without a number, and Infinity for "can't tell".
import {CANNOT, NONE, NO_ANSWER, className, store, tell} from "./store.js";

export const numeric = () => Boolean(store.session?.numeric);
const RANGES = 5;
let edges = [];
let names = "";

const unitOf = size => 10 ** (Math.floor(Math.log10(size)) - 1); // two digits of a size
const rounded = (value, unit) => Number((Math.round(value / unit) * unit).toPrecision(12));

export const numberText = value =>
  Math.abs(value) < 1e4 ? String(Number(value.toPrecision(12))) : value.toLocaleString("en-US", {maximumFractionDigits: 6});

// A prediction with as many digits as its interval allows.
export const predictedNumber = ({number, reach}) => (reach > 0 ? rounded(number, unitOf(reach) / 10) : number);
export const guessWord = seen =>
  numeric()
    ? numberText(predictedNumber(seen)) + (seen.reach > 0 ? " ± " + numberText(rounded(seen.reach, unitOf(seen.reach))) : "")
    : className(seen.id);
export const valueWord = value => (numeric() && value !== "cannot" && value !== CANNOT ? numberText(value) : className(value));
export const labelWord = row => (numeric() && store.given[row] >= 0 ? numberText(store.value[row]) : className(store.given[row]));

// Reads a typed number such as 1234.5, 1,234.5 or 3,5. NaN if it is not a number.
export function parsed(text) {
  let plain = text.replace(/[\s'’]/g, "");
  if (/^[-+]?\d{1,3}(,\d{3})+(\.\d+)?$/.test(plain)) plain = plain.replaceAll(",", "");
  else if (/^[-+]?\d*,\d+$/.test(plain)) plain = plain.replace(",", ".");
  const value = plain === "" ? NaN : Number(plain);
  return Number.isFinite(value) ? value : NaN;
}

export function rangeOf(value) {
  let k = 0;
  while (k < edges.length && value > edges[k]) k++;
  return k;
}

// Sets the range of each label.
export function place() {
  const {given, value, n} = store;
  for (let row = 0; row < n; row++)
    given[row] = Number.isNaN(value[row]) ? NONE : value[row] === Infinity ? CANNOT : rangeOf(value[row]);
}

// Computes the ranges of the given and predicted numbers.
export function arrange() {
  const {n, value, predicted, first, sure} = store;
  const all = [];
  for (let row = 0; row < n; row++) {
    const known = Number.isFinite(value[row]) ? value[row] : predicted[row];
    if (Number.isFinite(known)) all.push(known);
  }
  const sorted = Float64Array.from(all).sort();
  const least = sorted[0];
  const most = sorted.at(-1);
  edges = [];
  if (most > least) {
    const unit = unitOf(most - least) / 10;
    for (let k = 1; k < RANGES; k++) {
      const edge = rounded(sorted[Math.floor((k * sorted.length) / RANGES)], unit);
      if (edge < most && edge > (edges.at(-1) ?? -Infinity)) edges.push(edge);
    }
  }
  store.span = sorted.length ? [least, most] : null;
  for (let row = 0; row < n; row++) {
    first[row] = Number.isFinite(predicted[row]) ? rangeOf(predicted[row]) : NO_ANSWER;
    sure[row] = 200; // the width of the intervals is much the same for all rows
  }
  place();
  const text = edges.map(numberText);
  const found = !sorted.length
    ? []
    : !edges.length
      ? [numberText(least)]
      : ["up to " + text[0], ...text.slice(1).map((edge, k) => text[k] + " to " + edge), "above " + text.at(-1)];
  if (JSON.stringify(found) === names) return;
  names = JSON.stringify(found);
  store.classes = found.map((name, id) => ({id, name, hidden: false, merged: null}));
  tell("classes");
}
