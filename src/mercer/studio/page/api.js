// Requests to the server this page came from.
export const tab = sessionStorage.getItem("tab") || crypto.randomUUID();
sessionStorage.setItem("tab", tab);

export class Refused extends Error {  // the server answered, and said no
  constructor(status, text) { super(text); this.status = status; }
}

async function answered(response) {
  if (response.ok) return response;
  let text = response.status === 401
    ? "This page is not signed in. Open the address that mercer prints in the terminal."
    : "The server answered " + response.status + ".";
  try { text = (await response.json()).error || text; } catch { /* no JSON: keep the sentence above */ }
  throw new Refused(response.status, text);
}

export async function json(path) {
  return (await answered(await fetch(path, {headers: {Accept: "application/json"}}))).json();
}

export async function bytes(path) {
  const response = await answered(await fetch(path));
  return [await response.arrayBuffer(), response.headers];
}

export async function post(path, body) {
  const request = {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({id: crypto.randomUUID(), tab, ...body})};
  return (await answered(await fetch(path, request))).json();
}

// The newest of overlapping calls wins: one request under way, at most one waiting; the promise covers both.
export function newest(load) {
  let running = null, again = false;
  async function run() {
    try {
      while (again) { again = false; await load(); }
    } catch (error) {
      if (!(error instanceof Refused) && !(error instanceof TypeError)) throw error;  // network trouble shows elsewhere
    } finally { running = null; }
  }
  return () => {
    again = true;
    return running ??= run();
  };
}
