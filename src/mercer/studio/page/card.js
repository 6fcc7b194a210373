// Shows a row with its picture, its text and its cells.
import {ask} from "./api.js";
import {$, fill, h} from "./dom.js";
import {store} from "./store.js";

const KEEP = 400;
const fetched = new Map(); // row and size → promise of the address of its picture; lists that are drawn again do not flicker

async function address(row, side) {
  const response = await ask("/api/image/" + row + (side ? "?side=" + side : ""));
  if (!response.ok) throw new Error("no picture");
  return URL.createObjectURL(await response.blob());
}

function load(row, side) {
  const key = row + " " + side;
  if (!fetched.has(key)) fetched.set(key, address(row, side));
  const found = fetched.get(key);
  found.catch(() => fetched.delete(key));
  if (fetched.size > KEEP) {
    const [oldest, promise] = fetched.entries().next().value;
    fetched.delete(oldest);
    promise.then(URL.revokeObjectURL, () => {});
  }
  return found;
}

export function picture(row, name, className) {
  const image = h("img", {class: className, alt: "Picture of " + name, draggable: "false"});
  image.addEventListener("load", () => image.classList.toggle("pixels", image.naturalWidth <= 64));
  if (className === "large") image.addEventListener("click", () => zoom(row, name));
  load(row, className === "large" ? 1200 : 192).then(
    url => {
      image.src = url;
    },
    () => image.replaceWith(h("span", {class: "no-picture"}, "no picture")),
  );
  return image;
}

// Shows the picture of the file, at most 2,000 pixels wide, in a window that scrolls.
async function zoom(row, name) {
  const shown = $("#full-picture");
  shown.alt = "Picture of " + name;
  try {
    shown.src = await load(row, 0);
    $("#picture-dialog").showModal();
  } catch {
    /* the picture is gone: the small one stays */
  }
}

const shownText = text => (text === "" ? "–" : text);

// The cells of a row, sorted by how well their columns predict the class.
function ordered({cells: all}) {
  const place = new Map((store.queue.columns ?? []).map((name, k) => [name, k]));
  return all.slice().sort((a, b) => (place.get(a[0]) ?? 0) - (place.get(b[0]) ?? 0));
}

export function cells(data, most = Infinity) {
  const list = h("dl", {class: "cells" + (most === Infinity && data.cells.length > 8 ? " double" : "")});
  for (const [column, text] of ordered(data).slice(0, most))
    list.append(h("dt", {}, column), h("dd", {}, shownText(text)));
  if (data.cells.length > most)
    list.append(h("dt", {}, "…"), h("dd", {class: "soft"}, data.cells.length - most + " more"));
  return list;
}

const folded = data =>
  h("details", {class: "all-cells"}, h("summary", {}, "All " + data.cells.length + " cells"), cells(data));

export function content(data) {
  const box = h("div", {class: "content"});
  if (data.image) box.append(picture(data.row, data.name, "large"));
  if (data.text)
    box.append(
      h(
        "p",
        {class: "text" + (data.text.length > 600 ? " long" : ""), dir: "auto"},
        data.text,
      ),
    );
  if (data.cells.length) box.append((data.image || data.text) && data.cells.length > 12 ? folded(data) : cells(data));
  return box;
}

// Shows a row in a box. If the box shows only the same columns of another row, only the texts change.
export function showContent(box, data) {
  const list = data.image || data.text ? null : box.querySelector(".cells:only-child");
  const parts = list?.children;
  if (parts?.length !== 2 * data.cells.length || ordered(data).some(([name], k) => parts[2 * k].textContent !== name))
    fill(box, content(data));
  else for (const [k, [, text]] of ordered(data).entries()) parts[2 * k + 1].firstChild.data = shownText(text);
}

// The text, or the first cells in one line.
export const line = (data, most = 4) =>
  data.text ||
  ordered(data)
    .slice(0, most)
    .map(([column, text]) => column + " " + shownText(text))
    .join(" · ");
