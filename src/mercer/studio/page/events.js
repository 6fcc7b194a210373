// The server's events. Browsers allow six connections to a host, so that one tab listens (it holds a lock) and relays
// to the others; when it closes, the next takes over.
import {Refused, json} from "./api.js";
import {store, tell} from "./store.js";
import {retry} from "./outbox.js";
import {loadAll, loadAnswers, loadMap, loadQueue, loadSession, sync} from "./sync.js";

const NAMES = ["hello", "label", "stage", "classes", "map", "answer", "queue", "accuracy", "why", "settings", "problem", "bye"];
const channel = new BroadcastChannel("mercer-events");
let lost = false;

const handle = {
  hello() {
    const again = lost;
    lost = false;
    connection(true);
    if (again) { loadAll(); retry(); } else sync();
  },
  label() { sync(); tell("history"); },
  stage(value) { store.stage = value; tell("stage"); },
  classes(value) { store.classes = value.classes; tell("classes"); tell("history"); sync(); },
  async map() { await loadSession(); loadMap(); },
  answer() { loadAnswers(); },
  queue() { loadQueue(); },
  accuracy() { tell("accuracy"); },
  why(value) { tell("why", value.row); },
  settings(value) { Object.assign(store.session, value); tell("session"); tell("accuracy"); },
  problem(value) { store.problem = value?.code ? value : null; tell("stage"); },
  bye() { lost = true; connection(false, "mercer was ended in the terminal."); },
  gone() { lost = true; connection(false); },
};

function connection(connected, text = "") {
  if (store.connected === connected && !text) return;
  store.connected = connected;
  tell("connection", text);
}

function pass(name, value) {
  channel.postMessage({name, value});
  handle[name](value);
}

function open() {
  let source = null, wait = 500;
  const start = () => {
    source = new EventSource("/api/events?since=" + store.rev);
    for (const name of NAMES) source.addEventListener(name, event => {
      wait = 500;
      pass(name, event.data ? JSON.parse(event.data) : {});
    });
    source.onerror = () => {
      source.close();
      pass("gone");
      json("/api/session").catch(error => { if (error instanceof Refused) connection(false, error.message); });  // started again: no cookie
      setTimeout(start, wait);
      wait = Math.min(5000, 1.6 * wait);
    };
  };
  start();
}

export function listen() {
  channel.onmessage = ({data}) => handle[data.name]?.(data.value);
  navigator.locks.request("mercer-events", () => new Promise(open));  // held as long as the tab lives
}
