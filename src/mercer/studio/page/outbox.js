// Sends labels to the server one by one. They are shown at once, and kept in IndexedDB until they are acknowledged.
// An entry keeps its id, so a label that arrives twice counts once.
import {Refused, post, tab, who} from "./api.js";
import {kept as storage} from "./kept.js";
import {painted} from "./dom.js";
import {code, echo, pending} from "./pending.js";
import {store, tell} from "./store.js";
import {sync} from "./sync.js";

const PATIENCE = 5000; // ms without a response, after which the label is sent again with the same id
const SMALL = 50000; // characters that are written at once, before the browser can close the tab
const LARGEST = 60000; // of a request that outlives its tab, as browsers allow

let sending = false;
let last = 0;
let wait = 0;
let timer = 0;

const database = new Promise(resolve => {
  if (!storage.lasting) return resolve(null); // nothing may be kept in this frame
  const opening = indexedDB.open("mercer", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("outbox", {keyPath: "key"});
  opening.onsuccess = () => resolve(opening.result);
  opening.onerror = () => resolve(null); // private windows may have none, and labels are then in this tab alone
});

async function keep(change) {
  const opened = await database;
  if (!opened) return null;
  return new Promise(resolve => {
    const request = change(opened.transaction("outbox", "readwrite").objectStore("outbox"));
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => resolve(null);
  });
}

// Written before `send` returns. The database takes some ms, in which a tab may be closed.
const soon = "mercer-outbox ";
function keepSoon(kept) {
  const text = JSON.stringify(kept);
  try {
    if (text.length < SMALL) storage.setItem(soon + kept.key, text);
  } catch {
    /* full: the database has it */
  }
}
const keptSoon = () =>
  storage.keys()
    .filter(key => key.startsWith(soon))
    .map(key => JSON.parse(storage.getItem(key)));

export function send(path, body) {
  const order = (last = Math.max(last + 1, Date.now() * 1000));
  const id = crypto.randomUUID();
  const key = order + " " + id;
  const kept = {key, session: store.session.session ?? store.session.file, path, body: {id, tab, who, ...body}};
  const entry = {...kept};
  pending.push(entry);
  keepSoon(kept);
  keep(table => table.put(kept));
  echo();
  return new Promise((resolve, reject) => {
    entry.done = resolve;
    entry.failed = reject;
    painted().then(drain); // a person sees the echo first
  }).catch(error => {
    tell("refused", error);
    return null;
  });
}

// What a closed tab or a lost server left behind is sent first.
export async function restore() {
  const mine = store.session.session ?? store.session.file;
  const left = new Map([...((await keep(table => table.getAll())) || []), ...keptSoon()].map(one => [one.key, one]));
  pending.unshift(
    ...[...left.values()]
      .filter(entry => entry.session === mine && !pending.some(other => other.body.id === entry.body.id))
      .sort((a, b) => parseInt(a.key, 10) - parseInt(b.key, 10)),
  );
  if (pending.length) {
    echo();
    drain();
  }
}

async function drain() {
  if (sending) return;
  sending = true;
  clearTimeout(timer);
  while (pending.length) {
    const entry = pending[0];
    try {
      const small = JSON.stringify(entry.body).length < LARGEST;
      const answer = await post(entry.path, entry.body, {signal: AbortSignal.timeout(PATIENCE), keepalive: small});
      await accepted(entry, answer.rev);
      entry.done?.(answer);
    } catch (error) {
      if (!(error instanceof Refused) || [401, 502, 503, 504, 507].includes(error.status)) {
        wait = Math.min(5000, Math.max(400, 1.6 * wait));
        timer = setTimeout(drain, wait);
        if (error.status === 507) {
          if (!store.problem) store.problem = {code: "disk_full", text: error.message};
          tell("stage");
          break;
        }
        store.connected = false;
        tell("connection", error instanceof Refused ? error.message : "");
        break;
      }
      forget(entry);
      entry.failed ? entry.failed(error) : tell("refused", error);
    }
  }
  sending = false;
}

// Only the server knows which of several rows got the label, because checks and labels of others are left out.
async function accepted(entry, rev) {
  wait = 0;
  if (!store.connected) {
    store.connected = true;
    tell("connection", "");
  }
  const single = entry.path === "/api/label" && entry.body.rows.length === 1;
  if (rev > store.rev) single ? (store.known[entry.body.rows[0]] = code(entry.body.class)) : await sync();
  forget(entry);
}

function forget(entry) {
  pending.splice(pending.indexOf(entry), 1);
  keep(table => table.delete(entry.key));
  storage.removeItem(soon + entry.key);
  echo();
}

// A tab that is closed sends all waiting entries in one last request. Entries that were sent before count once.
export function start() {
  window.addEventListener("pagehide", () => {
    const items = pending.map(({path, body}) => ({path, body}));
    if (items.length && JSON.stringify(items).length < LARGEST)
      post("/api/several", {items}, {keepalive: true}).catch(() => {});
  });
}

export const retry = () => {
  wait = 0;
  drain();
};
