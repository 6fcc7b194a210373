// The tab "Accuracy". It shows what the random checks prove, figures that are not estimates, and when to stop.
import {agreement} from "./annotator.js";
import {acceptPromised} from "./actions.js";
import {$, bar, button, count, fill, h, percent, plural, settled} from "./dom.js";
import {json, newest, post} from "./api.js";
import {numberText, numeric, parsed} from "./numbers.js";
import {className, on, store, tell} from "./store.js";
import {colorOf, glyph} from "./palette.js";

const box = $("#accuracy");

function range(low, at, high, goal) {
  const line = h(
    "div",
    {
      class: "range",
      role: "img",
      "aria-label": `from ${percent(low)} to ${percent(high)}` + (goal ? `, goal ${percent(goal)}` : ""),
    },
    h("i"),
    h("b"),
  );
  line.children[0].style.setProperty("left", 100 * low + "%");
  line.children[0].style.setProperty("width", 100 * (high - low) + "%");
  line.children[1].style.setProperty("left", 100 * at + "%");
  if (goal) {
    const mark = h("em");
    mark.style.setProperty("left", 100 * goal + "%");
    line.append(mark);
  }
  return line;
}

function scale(goal) {
  const mark = h("span", {class: "goal"}, "goal " + percent(goal));
  mark.style.setProperty("left", 100 * goal + "%");
  return h("p", {class: "scale", "aria-hidden": "true"}, h("span", {}, "0"), mark);
}

function checks(accuracy) {
  const {random, stop} = accuracy;
  const {goal, tolerance} = store.session;
  const what = numeric() && tolerance ? "Predictions within ± " + numberText(tolerance) : "Accuracy";
  const title = what + " on random checks";
  if (!random || random.value === null)
    return h(
      "section",
      {class: "figure-card"},
      h("h2", {}, title),
      h("p", {class: "big soft"}, "–"),
      h(
        "p",
        {class: "hint"},
        "Some questions are rows drawn at random. They alone measure the accuracy of the predictions.",
      ),
    );
  return h(
    "section",
    {class: "figure-card" + (stop.reached ? " reached" : "")},
    h("h2", {}, title),
    h(
      "p",
      {class: "big"},
      percent(random.value),
      h("span", {class: "surely"}, "at least " + Math.floor(100 * random.low) + "% (95% confidence)"),
    ),
    range(random.low, random.value, random.high, goal),
    scale(goal),
    h(
      "p",
      {class: "hint"},
      `${random.right} of ${plural(random.checks - random.waiting, "check")} ${numeric() ? "within the tolerance" : "correct"}` +
        (random.cannot ? `, ${random.cannot} can't tell` : "") +
        (random.waiting ? `, ${random.waiting} skipped` : "") +
        (random.cannot + random.waiting ? " (counted as wrong at the lower end)" : "") +
        (numeric()
          ? `. The mean absolute error of the checks is ${numberText(Number(random.error.toPrecision(3)))}.`
          : ". Rows labeled in bulk are checked too.") +
        " The interval is valid however often you look, so you can stop at any time." +
        (accuracy.retuned
          ? " You changed the tolerance after you had seen checks. The interval does not account for this choice."
          : ""),
    ),
  );
}

function verdict({stop}) {
  return h(
    "p",
    {class: "verdict-line " + (stop.reached ? "good" : "")},
    stop.reached ? h("b", {}, "Goal reached. ") : null,
    stop.text ||
      (stop.more === null ? "" : "About " + plural(stop.more, "more random check", "more random checks") + "."),
  );
}

// Predictions of which at most 5% are wrong, with 95% certainty.
function promise(found) {
  if (!found) return null;
  return h(
    "section",
    {class: "figure-card", id: "promise"},
    h("h2", {}, "Accept with a promise"),
    h("p", {}, found.text),
    found.new
      ? button("Accept " + plural(found.new, "prediction"), acceptPromised, {class: "primary", id: "accept-promised"})
      : found.rows
        ? h("p", {class: "hint"}, "All of these are accepted.")
        : null,
  );
}

function other(accuracy) {
  const {left_out: leftOut, change, majority} = accuracy;
  return [
    leftOut
      ? h(
          "div",
          {class: "grayed"},
          h("h3", {}, numeric() ? "Held-out errors" : "Leave-one-out accuracy on all labels"),
          h("p", {}, leftOut.text ?? percent(leftOut.value) + ", " + percent(leftOut.low) + " to " + percent(leftOut.high)),
          h("p", {class: "hint"}, leftOut.note || "not an estimate, because rows were chosen"),
        )
      : null,
    change ? h("div", {class: "grayed"}, h("h3", {}, "The model's own view"), h("p", {}, change.text)) : null,
    majority
      ? h(
          "p",
          {class: "hint"},
          `Always predicting ${className(majority.class)} would be correct for about ${percent(majority.value)}.`,
        )
      : null,
  ];
}

function table(classes) {
  if (!classes?.length) return null;
  const most = Math.max(1, ...classes.map(one => one.given + one.predicted));
  return [
    h("h3", {}, "Classes"),
    h(
      "table",
      {class: "class-table"},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", {}, "class"),
          h("th", {class: "number"}, "given"),
          h("th", {class: "number"}, "predicted"),
          h("th", {}, h("span", {class: "unseen"}, "share")),
        ),
      ),
      h(
        "tbody",
        {},
        classes.map(one =>
          h(
            "tr",
            {},
            h("td", {}, glyph(one.class), className(one.class)),
            h("td", {class: "number"}, count(one.given)),
            h("td", {class: "number"}, count(one.predicted)),
            h("td", {}, bar((one.given + one.predicted) / most, "k" + colorOf(one.class))),
          ),
        ),
      ),
    ),
  ];
}

const FEW = 5; // least checks whose fraction is shown

const load = newest(async () => {
  const accuracy = await json("/api/accuracy");
  store.accuracy = accuracy;
  fill(box, checks(accuracy), verdict(accuracy), promise(accuracy.promise), agreement(accuracy.agreement), ...other(accuracy), table(accuracy.classes));
  const {random, stop} = accuracy;
  const badge = $("#accuracy-badge");
  badge.textContent = random?.checks - random?.waiting >= FEW && random.value !== null ? percent(random.value) : "";
  badge.classList.toggle("good", stop.reached);
  tell("measured");
});

export function start() {
  on("accuracy", settled(load, 120));
  const form = $("#settings");
  const share = field => (field.value === "" ? null : Number(field.value) / 100);
  const tolerance = () => {
    const value = parsed(form.tolerance.value);
    return value > 0 ? value : null;
  };
  const save = settled(async () => {
    try {
      Object.assign(
        store.session,
        await post("/api/settings", {
          goal: share(form.goal),
          random_share: share(form.share),
          abstain: share(form.abstain),
          double_share: share(form.double) ?? 0,
          ...(numeric() ? {tolerance: tolerance()} : {}),
        }),
      );
      tell("accuracy");
    } catch (error) {
      tell("refused", error);
    }
  }, 400);
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("input", event => {
    if (event.target !== form.annotator && form.checkValidity()) save();
  });
  on("session", () => {
    if (form.contains(document.activeElement)) return;
    form.goal.value = Math.round(100 * store.session.goal);
    form.share.value = Math.round(100 * store.session.random_share);
    form.double.value = Math.round(100 * store.session.double_share);
    form.tolerance.value = store.session.tolerance ? numberText(store.session.tolerance) : "";
    form.abstain.value = store.session.abstain === null ? "" : Math.round(100 * store.session.abstain);
  });
}
