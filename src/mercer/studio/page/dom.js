// Makes elements without markup strings. Text is only set as text.
export const $ = (selector, root = document) => root.querySelector(selector);

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

export const button = (label, onclick, attributes = {}) => h("button", {type: "button", onclick, ...attributes}, label);

export function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

// A bar that fills this fraction of its box. The style sheet reads the length.
export function bar(share, className = "") {
  const element = h("span", {class: ("meter " + className).trim(), "aria-hidden": "true"}, h("i"));
  element.firstChild.style.setProperty("width", Math.max(0, Math.min(1, share)) * 100 + "%");
  return element;
}

export const percent = share => Math.round(100 * share) + "%";
// The confidence of a guess.
export const sure = share => (share < 0.05 ? "uncertain" : percent(share));
export const count = n => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
export const plural = (n, one, many = one + "s") => count(n) + "\u00a0" + (n === 1 ? one : many);

// Several calls before the next frame draw once.
export function later(work) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      work();
    });
  };
}

// The same after the frame is painted, in a task of its own, so that a person sees the echo of a key first.
export const afterwards = work => later(() => setTimeout(work));

// Resolves when the next frame is painted. A hidden tab paints none and waits 0.1 s.
export const painted = () =>
  new Promise(resolve => {
    setTimeout(resolve, 100);
    requestAnimationFrame(() => setTimeout(resolve));
  });

// Several calls within the time run once, after the last of them.
export function settled(work, ms) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...values), ms);
  };
}

// Announces a sentence to screen readers, in the only live region. Of several sentences in a frame the last is used.
let sentence = "";
const speak = afterwards(() => {
  $("#live").textContent = sentence;
});
export function say(text) {
  sentence = text;
  speak();
}
