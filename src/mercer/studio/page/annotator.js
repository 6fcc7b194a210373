// The name of the person who labels, and the agreement on rows that two people labeled.
import {$, h, percent} from "./dom.js";
import {annotator} from "./api.js";
import {go} from "./actions.js";
import {kept} from "./kept.js";
import {on, store} from "./store.js";

// Other rows are open for another person, so that everything is loaded again.
function rename(name) {
  if (name === annotator()) return;
  name ? kept.setItem("mercer-annotator", name) : kept.removeItem("mercer-annotator");
  location.reload();
}

// The figures below the accuracy. null while no row has two labels.
export function agreement(found) {
  if (!found) return null;
  const {kappa, kappa_interval: ends} = found;
  return h(
    "section",
    {class: "figure-card", id: "agreement"},
    h("h2", {}, "Agreement between annotators"),
    h(
      "p",
      {class: "big"},
      percent(found.agreement),
      h(
        "span",
        {class: "surely"},
        `${percent(found.interval[0])} to ${percent(found.interval[1])}` +
          (kappa === null ? "" : `, kappa ${kappa.toFixed(2)} (${ends[0].toFixed(2)} to ${ends[1].toFixed(2)})`),
      ),
    ),
    h("p", {class: "hint"}, found.text + (found.waiting ? ` ${found.waiting} skipped.` : "")),
    found.pairs.length > 1
      ? h("ul", {}, found.pairs.map(one => h("li", {}, one.annotators.join(" and ") + ": " + one.text)))
      : null,
    found.different.length
      ? h(
          "details",
          {},
          h("summary", {}, "Rows with different labels"),
          h(
            "ul",
            {},
            found.different.map(one =>
              h(
                "li",
                {},
                h("button", {type: "button", class: "quiet small", onclick: () => go(one.row)}, "row " + (one.row + 1)),
                one.annotators.map((name, k) => ` ${name}: ${one.labels[k]}`).join(","),
              ),
            ),
          ),
        )
      : null,
  );
}

let asked = false;
export function start() {
  const form = $("#settings");
  const dialog = $("#name-dialog");
  form.annotator.addEventListener("change", () => rename(form.annotator.value.trim()));
  $("#name-form").addEventListener("submit", event => {
    event.preventDefault();
    dialog.close();
    rename($("#annotator").value.trim());
  });
  on("session", () => {
    const {session} = store;
    if (document.activeElement !== form.annotator) form.annotator.value = session.annotator ?? "";
    form.double.closest("label").hidden = !session.annotators.length;
    if (asked || session.annotator || !session.annotators.length) return;
    asked = true;
    dialog.showModal();
  });
}
