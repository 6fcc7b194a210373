// Requests to the server of this page.
import {kept, session} from "./kept.js";

export const tab = session.getItem("tab") || crypto.randomUUID();
session.setItem("tab", tab);
// The key from the printed address. It is kept for this origin, and servers on other ports cannot read it.
if (location.hash.length > 30) {
  kept.setItem("mercer-key", location.hash.slice(1));
  history.replaceState(null, "", location.pathname);
}
export const key = () => kept.getItem("mercer-key") ?? "";
export const annotator = () => kept.getItem("mercer-annotator") ?? "";
// The target that this tab shows. "" is the first one.
export const target = () => session.getItem("mercer-target") ?? "";
export function showTarget(name) {
  session.setItem("mercer-target", name);
  location.reload();
}
export const ask = (path, more = {}) =>
  fetch(path, {
    ...more,
    headers: {
      "X-Mercer-Key": key(),
      "X-Mercer-Annotator": encodeURIComponent(annotator()),
      "X-Mercer-Target": encodeURIComponent(target()),
      ...(more.headers ?? {}),
    },
  });
// All tabs of a browser are one person. Undo takes back what this person did, and labels of others are not overwritten.
export const who = kept.getItem("mercer-who") || crypto.randomUUID();
kept.setItem("mercer-who", who);

export class Refused extends Error {
  // the server refused a request
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

async function answered(response) {
  if (response.ok) return response;
  let text =
    response.status === 401
      ? "This page is not signed in. Open the address that mercer prints in the terminal."
      : "The server returned status " + response.status + ".";
  try {
    text = (await response.json()).error || text;
  } catch {
    /* no JSON: keep the sentence above */
  }
  throw new Refused(response.status, text);
}

export async function json(path) {
  return (await answered(await ask(path, {headers: {Accept: "application/json"}}))).json();
}

export async function bytes(path) {
  const response = await answered(await ask(path));
  return [await response.arrayBuffer(), response.headers];
}

export async function post(path, body, more = {}) {
  const request = {
    method: "POST",
    headers: {"Content-Type": "application/json"},
    body: JSON.stringify({id: crypto.randomUUID(), tab, who, ...body}),
    ...more,
  };
  return (await answered(await ask(path, request))).json();
}

// Of overlapping calls one request runs and at most one waits. The promise covers both.
export function newest(load) {
  let running = null;
  let again = false;
  async function run() {
    try {
      while (again) {
        again = false;
        await load();
      }
    } catch (error) {
      if (!(error instanceof Refused) && !(error instanceof TypeError)) throw error; // network errors are shown elsewhere
    } finally {
      running = null;
    }
  }
  return () => {
    again = true;
    return (running ??= run());
  };
}
