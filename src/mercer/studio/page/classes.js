// The list of classes: key, mark, name, counts; a dialog renames, merges, hides.
import {$, afterwards, button, count, fill, h, plural} from "./dom.js";
import {changeClass, labelCurrent} from "./actions.js";
import {keys} from "./chips.js";
import {colourOf, glyph} from "./palette.js";
import {NONE, counts, offered, on, store, tell} from "./store.js";

const list = $("#classes");
const dialog = $("#class-dialog");

function spotlight(id) {
  if (store.spotlight !== id) {
    store.spotlight = id;
    tell("spotlight");
  }
}

function item(one, key, tally, most) {
  const given = tally.given[one.id] || 0;
  const predicted = tally.predicted[one.id] || 0;
  const meter = h(
    "span",
    {class: "split k" + colourOf(one.id), "aria-hidden": "true"},
    h("i", {class: "given"}),
    h("i"),
  );
  meter.children[0].style.setProperty("width", (100 * given) / most + "%");
  meter.children[1].style.setProperty("width", (100 * predicted) / most + "%");
  const row = button(
    [
      h("kbd", {"aria-hidden": "true"}, key || ""),
      glyph(one.id),
      h("span", {class: "name"}, one.name),
      h("span", {class: "numbers"}, h("b", {}, count(given)), h("span", {}, count(predicted))),
      meter,
    ],
    () => labelCurrent(one.id),
    {
      class: "class-row",
      "data-class": one.id,
      "aria-label": `${one.name}: ${given} given, ${predicted} predicted. Label the open row with it.`,
      "aria-keyshortcuts": key ? key.replace("⇧", "Shift+") : null,
    },
  );
  row.addEventListener("pointerenter", () => spotlight(one.id));
  row.addEventListener("pointerleave", () => spotlight(NONE));
  return h(
    "li",
    {},
    row,
    button("⋯", () => edit(one), {class: "quiet more", "aria-label": "Change class " + one.name}),
  );
}

function show() {
  const tally = counts();
  const classes = offered();
  const hidden = store.classes.filter(one => one.hidden && one.merged === null);
  const most = Math.max(1, ...classes.map(one => (tally.given[one.id] || 0) + (tally.predicted[one.id] || 0)));
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.class : null;
  const key = keys();
  const digits = numbers => String(Math.max(0, ...numbers)).length;
  list.style.setProperty("--given", Math.max(3, digits(tally.given) + 1) + "ch");
  list.style.setProperty("--predicted", Math.max(4, digits(tally.predicted) + 2) + "ch");
  fill(
    list,
    classes.map(one => item(one, key.get(one.id), tally, most)),
  );
  if (focused) $(`[data-class="${CSS.escape(focused)}"]`, list)?.focus();
  $("#classes-head").hidden = !classes.length;
  $("#class-hint").hidden = classes.length >= 2;
  $("#class-hint").textContent = classes.length
    ? "One more class, and the first answers can be computed."
    : "Name the classes you want to tell apart.";
  fill(
    $("#hidden-classes"),
    hidden.length
      ? [
          h("span", {class: "soft"}, "Hidden: "),
          ...hidden.map(one =>
            button([glyph(one.id), one.name], () => changeClass({op: "show", class: one.id}), {
              class: "quiet small",
              "aria-label": "Show " + one.name,
            }),
          ),
        ]
      : [],
  );
  $("#tally").textContent =
    plural(tally.labelled, "label") + (tally.cannot ? " · " + tally.cannot + " cannot tell" : "");
  $("#open-tally").textContent =
    store.tier !== "none" && tally.abstained ? plural(tally.abstained, "row") + " without answer" : "";
}

function edit(one) {
  const others = store.classes.filter(other => other.id !== one.id && other.merged === null);
  const name = h("input", {type: "text", value: one.name, maxlength: 80, "aria-label": "Name"});
  const into = h(
    "select",
    {"aria-label": "Merge into"},
    others.map(other => h("option", {value: other.id}, other.name)),
  );
  const done = async change => {
    if (await changeClass(change)) dialog.close();
  };
  const given = counts().given[one.id] || 0;
  fill(
    dialog,
    h(
      "form",
      {
        method: "dialog",
        onsubmit: event => {
          event.preventDefault();
          if (name.value.trim()) done({op: "rename", class: one.id, name: name.value.trim()});
        },
      },
      h("h2", {id: "class-dialog-title"}, glyph(one.id), one.name),
      h("div", {class: "field"}, name, h("button", {class: "primary"}, "Rename")),
    ),
    others.length
      ? h(
          "div",
          {class: "field"},
          into,
          button("Merge into it", () => done({op: "merge", class: one.id, into: Number(into.value)})),
        )
      : null,
    others.length
      ? h("p", {class: "hint"}, (given ? plural(given, "label") + " would move. " : "") + "A merge can be undone.")
      : null,
    h(
      "div",
      {class: "field end"},
      button("Hide from keys and map", () => done({op: "hide", class: one.id})),
      button("Close", () => dialog.close(), {class: "quiet"}),
    ),
  );
  dialog.showModal();
  name.select();
}

export function start() {
  on("classes labels answers", afterwards(show));
  $("#add-class").addEventListener("submit", async event => {
    event.preventDefault();
    const field = $("#class-name");
    const name = field.value.trim();
    if (name && (await changeClass({op: "add", name}))) field.value = "";
  });
}
