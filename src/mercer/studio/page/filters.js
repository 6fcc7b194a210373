// Filters the rows of the map and of the tab "Rows" by class, label, confidence and text.
import {$, afterwards, count, settled} from "./dom.js";
import {json} from "./api.js";
import {openTab} from "./tabs.js";
import {NONE, NO_ANSWER, on, store, tell} from "./store.js";

let found = null; // rows with the text
let asked = 0;
let chosen = null; // a class
const form = $("#filters");

// Rows without a prediction, or in the least certain tenth of the open rows.
function doubtful() {
  const mask = new Uint8Array(store.n);
  const histogram = new Uint32Array(256);
  let open = 0;
  let below = 0;
  let limit = 0;
  for (let row = 0; row < store.n; row++)
    if (store.given[row] === NONE && store.first[row] !== NO_ANSWER) {
      histogram[store.sure[row]]++;
      open++;
    }
  while (limit < 255 && below + histogram[limit] <= open / 10) below += histogram[limit++];
  for (let row = 0; row < store.n; row++)
    mask[row] =
      store.given[row] === NONE &&
      store.tier !== "none" &&
      !store.hiddenGuess.has(row) &&
      (store.first[row] === NO_ANSWER || store.sure[row] <= limit)
        ? 1
        : 0;
  return mask;
}

// `kept` means that only labels or predictions have changed.
function apply(kept = false) {
  const unlabeled = form.unlabeled.checked;
  const doubt = form.doubtful.checked ? doubtful() : null;
  const below = form.below.checked ? Number(form.limit.value) / 100 : null;
  $("#limit-text").textContent = form.limit.value + "%";
  if (!unlabeled && !doubt && below === null && !found && chosen === null) store.shown = null;
  else {
    const mask = new Uint8Array(store.n);
    for (let row = 0; row < store.n; row++) {
      const open = store.given[row] === NONE;
      mask[row] =
        (!unlabeled || open) &&
        (chosen === null || (open ? !store.hiddenGuess.has(row) && store.first[row] === chosen : store.given[row] === chosen)) &&
        (!doubt || doubt[row]) &&
        (below === null ||
          (open &&
            !store.hiddenGuess.has(row) &&
            (store.first[row] === NO_ANSWER || store.sure[row] < 255 * below))) &&
        (!found || found.has(row))
          ? 1
          : 0;
    }
    store.shown = mask;
  }
  const shown = store.shown ? store.shown.reduce((sum, one) => sum + one, 0) : store.n;
  $("#shown").textContent = store.shown ? count(shown) + " of " + count(store.n) + " rows" : "";
  $("#clear-filters").hidden = !store.shown;
  tell("filter", kept);
}

const search = settled(async () => {
  const text = form.search.value.trim();
  const mine = ++asked;
  if (!text) {
    found = null;
    $("#found").textContent = "";
    apply();
    return;
  }
  try {
    const answer = await json("/api/find?q=" + encodeURIComponent(text));
    if (mine !== asked) return;
    found = new Set(answer.rows);
    $("#found").textContent = (answer.more ? "more than " : "") + count(answer.rows.length) + " found";
    apply();
    openTab("rows");
  } catch (error) {
    tell("refused", error);
  }
}, 180);

function clear() {
  form.reset();
  found = chosen = null;
  asked++;
  $("#found").textContent = "";
  apply();
  openTab("next");
}

// Shows the rows of one class, given or predicted. null shows all.
export function filterClass(id) {
  chosen = id;
  apply();
  openTab(store.shown ? "rows" : "next");
}
export const only = () => chosen;

export function start() {
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("input", event => {
    if (event.target === form.search) search();
    else {
      if (event.target === form.limit) form.below.checked = true;
      apply();
      if (store.shown) openTab("rows");
    }
  });
  form.search.addEventListener("keydown", event => {
    if (event.key === "Escape") {
      form.search.value = "";
      search();
      form.search.blur();
    }
  });
  $("#clear-filters").addEventListener("click", clear);
  const again = afterwards(() => apply(true));
  on("labels answers", () => {
    if (store.shown) again();
  });
}
export const find = () => {
  form.search.focus();
  form.search.select();
};
