// A row as a person reads it: its picture, its text, its cells.
import {fill, h} from "./dom.js";

const KEEP = 400;
const fetched = new Map(); // row → promise of the address of its picture, so that lists drawn again do not flicker

async function address(row) {
  const response = await fetch("/api/image/" + row);
  if (!response.ok) throw new Error("no picture");
  return URL.createObjectURL(await response.blob());
}

function load(row) {
  if (!fetched.has(row)) fetched.set(row, address(row));
  const found = fetched.get(row);
  found.catch(() => fetched.delete(row));
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
  load(row).then(
    url => {
      image.src = url;
    },
    () => image.replaceWith(h("span", {class: "no-picture"}, "no picture")),
  );
  return image;
}

const shownText = text => (text === "" ? "–" : text);

export function cells(data, most = Infinity) {
  const scrolls = data.cells.length > 8 && most === Infinity;
  const list = h("dl", {class: "cells", tabindex: scrolls ? 0 : null});
  for (const [column, text] of data.cells.slice(0, most))
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
        {class: "text" + (data.text.length > 400 ? " long" : ""), tabindex: data.text.length > 400 ? 0 : null},
        data.text,
      ),
    );
  if (data.cells.length) box.append((data.image || data.text) && data.cells.length > 12 ? folded(data) : cells(data));
  return box;
}

// Shows a row in a box. Where the box shows the same columns of another row and nothing else, only texts change.
export function showContent(box, data) {
  const list = data.image || data.text ? null : box.querySelector(".cells:only-child");
  const parts = list?.children;
  if (parts?.length !== 2 * data.cells.length || data.cells.some(([name], k) => parts[2 * k].textContent !== name))
    fill(box, content(data));
  else for (const [k, [, text]] of data.cells.entries()) parts[2 * k + 1].firstChild.data = shownText(text);
}

// One line: the text, or the first cells.
export const line = data =>
  data.text ||
  data.cells
    .slice(0, 4)
    .map(([column, text]) => column + " " + text)
    .join(" · ");

export const mini = data =>
  data.image ? picture(data.row, data.name, "mini") : h("span", {class: "mini-text"}, line(data));
