// A note on the open row. It is kept in the journal and exported, and nothing is learned from it.
import {button, fill, h} from "./dom.js";
import {post} from "./api.js";
import {tell} from "./store.js";

const LONGEST = 500;
let about = null; // the row as it was fetched
const open = button("", () => writeNote(), {class: "quiet small", id: "note", "aria-keyshortcuts": "T"});
const field = h("input", {type: "text", maxlength: LONGEST, "aria-label": "Note on this row", placeholder: "Note on this row"});
const form = h("form", {onsubmit: save, hidden: true}, field);
export const noteLine = h("span", {class: "note-line"}, open, form);

// Shows the note of a row, null while it is fetched. A note that is being written stays open as long as its row does.
export function showNote(data) {
  const writing = !form.hidden && data !== null && about?.row === data.row;
  about = data;
  if (!writing) close();
}

function close() {
  form.hidden = true;
  open.hidden = false;
  open.title = about?.note ?? "";
  open.classList.toggle("has", Boolean(about?.note));
  fill(open, about?.note ? "Note: " + about.note : ["Note", h("kbd", {}, "T")]);
}

export function writeNote() {
  if (!about) return;
  form.hidden = false;
  open.hidden = true;
  field.value = about.note ?? "";
  field.focus();
}

async function save(event) {
  event.preventDefault();
  const data = about;
  const note = field.value.trim();
  close();
  try {
    if (note !== (data.note ?? "")) await post("/api/note", {row: data.row, note});
    data.note = note;
  } catch (error) {
    tell("refused", error);
  }
  if (data.row === about?.row) showNote(data);
}

field.addEventListener("keydown", event => {
  if (event.key === "Escape") close();
});
field.addEventListener("blur", () => {
  if (!form.hidden) form.requestSubmit();
});
