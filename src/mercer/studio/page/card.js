// A row as a person reads it: its picture, its text, its cells.
import {h} from "./dom.js";

const KEEP = 400, fetched = new Map();  // row → promise of the address of its picture, so that lists drawn again do not flicker

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
  load(row).then(url => { image.src = url; }, () => image.replaceWith(h("span", {class: "no-picture"}, "no picture")));
  return image;
}

export function cells(data, most = Infinity) {
  const list = h("dl", {class: "cells"});
  for (const [column, text] of data.cells.slice(0, most)) list.append(h("dt", {}, column), h("dd", {}, text === "" ? "–" : text));
  if (data.cells.length > most) list.append(h("dt", {}, "…"), h("dd", {class: "soft"}, data.cells.length - most + " more"));
  return list;
}

const folded = data => h("details", {class: "all-cells"}, h("summary", {}, "All " + data.cells.length + " cells"), cells(data));

export function content(data) {
  const box = h("div", {class: "content"});
  if (data.image) box.append(picture(data.row, data.name, "large"));
  if (data.text) box.append(h("p", {class: "text" + (data.text.length > 400 ? " long" : ""), tabindex: data.text.length > 400 ? 0 : null}, data.text));
  if (data.cells.length) box.append((data.image || data.text) && data.cells.length > 12 ? folded(data) : cells(data));
  return box;
}

// One line: the text, or the first cells.
export const line = data => data.text || data.cells.slice(0, 4).map(([column, text]) => column + " " + text).join(" · ");

export const mini = data => data.image ? picture(data.row, data.name, "mini") : h("span", {class: "mini-text"}, line(data));
