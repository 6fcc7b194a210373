// The bar at the top with file, target, state, undo, export and help, and the notice below it.
import {$, button, count, fill, h, plural, say} from "./dom.js";
import {bytes, post, showTarget} from "./api.js";
import {redo, undo} from "./actions.js";
import {on, store, tell} from "./store.js";

const EXPORTS = [
  ["table", "csv", "Table (CSV)", "your table with predictions, and where each label came from"],
  ["labels", null, "Labels only", "the labels you gave, CSV; also without a model"],
  ["table", "parquet", "Table (Parquet)", "the same columns"],
  ["report", null, "Report", "an HTML page to send to others"],
  ["certificate", null, "Certificate", "accuracy, interval, random rows and the hash of the journal"],
  ["model", null, "Model", "to predict new rows with mercer"],
  ["label_studio", null, "Label Studio", "tasks with annotations and predictions, JSON"],
  ["cleanlab", null, "cleanlab", "labels and held-out probabilities, NPZ"],
];
const HELD = ["disk_full", "journal_gone"]; // labels wait in the browser until this is solved
let refused = 0;
let why = "";
let told = false;

function saved() {
  const {waiting, rev} = store;
  const held = waiting && (!store.connected || HELD.includes(store.problem?.code));
  const lost = store.problem?.code === "journal_gone";
  $("#saved").textContent = lost && !waiting
    ? "Not saved any more"
    : held
    ? count(waiting) + " unsaved (kept in this browser)"
    : waiting
      ? "Saving…"
      : "Saved";
  $("#saved").title = "Revision " + rev;
  $("#saved").classList.toggle("warn", Boolean(held || lost));
  $("#undo").disabled = !store.undo && !waiting;
  $("#redo").disabled = !store.redo;
}

function stage() {
  const {stage: now, problem} = store;
  const busy = now && !["idle", "stopped"].includes(now.name);
  $("#stage").classList.toggle("busy", Boolean(busy));
  $("#stage-text").textContent = !store.connected
    ? "not connected"
    : problem && now?.name === "stopped"
      ? "stopped"
      : busy
        ? (now?.text ?? "")
        : now?.text === "ready" ? "" : (now?.text ?? "");
  const progress = $("#progress");
  progress.hidden = !busy;
  if (now?.share === null || now?.share === undefined) progress.removeAttribute("value");
  else progress.value = now.share;
  $("#cancel").hidden = !now?.cancellable;
  document.documentElement.dataset.stage = now?.name ?? "";
  $("#plot-empty").textContent = now?.name === "stopped"
    ? "There is no map, because nothing is learned now."
    : busy
      ? now.text
      : "The map is being drawn…";
  saved();
  if (problem)
    notice(
      "problem",
      problem.text,
      problem.unmatched?.length
        ? " Not found again: " +
            problem.unmatched.slice(0, 8).join(", ") +
            (problem.unmatched.length > 8 ? " and " + (problem.unmatched.length - 8) + " more." : ".")
        : "",
      HELD.includes(problem.code) && store.waiting
        ? " " + plural(store.waiting, "change is", "changes are") + " kept in this browser and sent again."
        : "",
    );
  else if ($("#notice").dataset.kind === "problem") clear();
}

function notice(kind, ...content) {
  const bar = $("#notice");
  bar.dataset.kind = kind;
  fill(
    bar,
    h("span", {}, ...content),
    ["refused", "repaired"].includes(kind) ? button("×", clear, {class: "quiet close", "aria-label": "Dismiss"}) : null,
  );
  bar.hidden = false;
  say(bar.firstChild.textContent);
}
function clear() {
  $("#notice").hidden = true;
  delete $("#notice").dataset.kind;
  if (store.problem) stage(); // a problem lasts longer than other notices
}

function connection(text) {
  why = text || why;
  if (store.connected) {
    why = "";
    if ($("#notice").dataset.kind === "gone") clear();
    saved();
    return;
  }
  notice(
    "gone",
    h("b", {}, (why || "The server does not respond.") + " "),
    store.waiting
      ? plural(store.waiting, "change is", "changes are") + " kept in this browser and sent when it is back. "
      : "Labels you give are kept in this browser and sent when it is back. ",
    "Trying again…",
  );
  saved();
}

// Writes a file into the folder of the session, then fetches it, because the folder may be on another machine.
async function write(what, format, line) {
  line.className = "soft";
  line.textContent = "Writing…";
  try {
    const answer = await post("/api/export", format ? {what, format} : {what});
    const [content] = await bytes("/api/download/" + encodeURIComponent(answer.file));
    const url = URL.createObjectURL(new Blob([content], {type: "application/octet-stream"}));
    const link = h("a", {href: url, download: answer.file});
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
    line.textContent = "Downloaded. Copy: " + answer.path;
    line.className = "good";
    say(answer.file + " downloaded.");
  } catch (error) {
    line.textContent = error.message;
    line.className = "warn";
    say(error.message);
  }
}

function item([what, format, name, text], main) {
  const line = h("span", {class: "soft"}, text);
  return h("li", {}, button(name, () => write(what, format, line), {class: main ? "primary" : ""}), line);
}

export function exports() {
  const [main, ...others] = EXPORTS.filter(([what]) => what !== "cleanlab" || !store.session.numeric);
  fill(
    $("#export-list"),
    item(main, true),
    h("li", {class: "folded"}, h("details", {}, h("summary", {}, "Other formats"), h("ul", {}, others.map(one => item(one))))),
  );
  $("#export-dialog").showModal();
}

export const help = () => $("#help-dialog").showModal();

export function start() {
  on("session", () => {
    const {file, target, n, demo} = store.session;
    document.documentElement.dataset.kind = store.session.numeric ? "numbers" : "classes";
    $("#file").textContent = file;
    const {targets} = store.session;
    $("#about").textContent = count(n) + " rows" + (targets.length > 1 ? "" : " · " + target) + (demo ? " · demo" : "");
    $("#target").hidden = targets.length < 2;
    fill($("#target"), targets.map(name => h("option", {value: name, selected: name === target}, name)));
    if (store.session.repaired && !told) notice("repaired", store.session.repaired);
    told = true;
    document.title = file + " · mercer studio";
  });
  on("stage session connection", stage);
  on("labels session connection", saved);
  on("connection", connection);
  on("labels", () => {
    if (!store.connected) connection("");
  });
  on("refused", error => {
    notice("refused", error.message);
    clearTimeout(refused);
    refused = setTimeout(() => {
      if ($("#notice").dataset.kind === "refused") clear();
    }, 8000);
  });
  $("#target").addEventListener("change", event => showTarget(event.target.value));
  $("#undo").addEventListener("click", () => undo());
  $("#redo").addEventListener("click", redo);
  $("#export").addEventListener("click", exports);
  $("#help").addEventListener("click", help);
  $("#cancel").addEventListener("click", () => post("/api/cancel", {}).catch(error => tell("refused", error)));
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("click", event => {
      if (event.target === dialog) dialog.close();
    }); // outside of it
    for (const close of dialog.querySelectorAll("[data-close]")) close.addEventListener("click", () => dialog.close());
  }
}
