// Receives the events of the server. Browsers allow six connections per host, so one tab with a lock listens and relays
// events to the others. When it closes, the next one takes over.
import {Refused, json, key, target} from "./api.js";
import {forget} from "./rows.js";
import {store, tell} from "./store.js";
import {retry} from "./outbox.js";
import {loadAll, loadAnswers, loadMap, loadQueue, loadSession, sync} from "./sync.js";

const NAMES = [
  "hello",
  "label",
  "stage",
  "classes",
  "map",
  "answer",
  "queue",
  "accuracy",
  "why",
  "settings",
  "problem",
  "bye",
];
const topic = "mercer-events " + target(); // tabs of other targets hear other events
const channel = new BroadcastChannel(topic);

const handle = {
  hello() {
    // missed events are not sent again
    connection(true);
    loadAll();
    retry();
  },
  label(value) {
    if (value.note) {
      forget(value.note.row);
      tell("note", value.note.row);
    }
    sync();
    tell("history");
  },
  stage(value) {
    store.stage = value;
    tell("stage");
  },
  classes(value) {
    store.classes = value.classes;
    tell("classes");
    tell("history");
    sync();
  },
  async map() {
    await loadSession();
    loadMap();
  },
  answer() {
    loadAnswers();
  },
  queue() {
    loadQueue();
  },
  accuracy() {
    tell("accuracy");
  },
  why(value) {
    tell("why", value.row);
  },
  settings(value) {
    Object.assign(store.session ?? {}, value);
    tell("session");
    tell("accuracy");
  },
  problem(value) {
    store.problem = value?.code ? value : null;
    tell("stage");
  },
  bye() {
    connection(false, "mercer was stopped.");
  },
  gone() {
    connection(false);
  },
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
  let source = null;
  let wait = 500;
  const start = () => {
    source = new EventSource("/api/events?" + new URLSearchParams({since: store.rev, key: key(), target: target()}));
    for (const name of NAMES)
      source.addEventListener(name, event => {
        wait = 500;
        pass(name, event.data ? JSON.parse(event.data) : {});
      });
    source.onerror = () => {
      source.close();
      pass("gone");
      json("/api/session").catch(error => {
        if (error instanceof Refused) connection(false, error.message);
      }); // a server that was started again needs a new cookie
      setTimeout(start, wait);
      wait = Math.min(5000, 1.6 * wait);
    };
  };
  start();
}

// Before anything is loaded, so that nothing is missed in between.
export function follow() {
  channel.onmessage = ({data}) => handle[data.name]?.(data.value);
}

// After the session is loaded. The tab keeps the lock until it closes.
export function lead() {
  navigator.locks.request(topic, () => new Promise(open));
}
