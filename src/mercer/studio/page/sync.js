// Loads the session, labels since the last known revision, the map, predictions and the queue from the server.
import {Refused, bytes, json, newest} from "./api.js";
import {arrange, numeric} from "./numbers.js";
import {code, echo} from "./pending.js";
import {allocate, store, tell} from "./store.js";

export async function loadSession() {
  const session = await json("/api/session");
  const grown = session.n !== store.n;
  if (!session.numeric) store.classes = session.classes; // ranges take their place
  Object.assign(store, {session, stage: session.stage, problem: session.problem});
  if (grown) {
    allocate(session.n);
    store.rev = 0;
  }
  tell("session");
  tell("classes");
  tell("stage");
}

export const sync = newest(async () => {
  if (!store.n) return;
  const answer = await json("/api/labels?since=" + store.rev);
  for (const one of answer.labels) store.known[one.row] = code(one.class);
  for (const row of answer.removed) store.known[row] = code(null);
  Object.assign(store, {rev: answer.rev, undo: answer.undo, redo: answer.redo});
  echo();
});

export const loadMap = newest(async () => {
  if (!store.session?.map || store.x) return;
  const [buffer] = await bytes("/api/map");
  const pairs = new DataView(buffer);
  const n = buffer.byteLength / 4;
  const x = new Uint16Array(n);
  const y = new Uint16Array(n);
  for (let i = 0; i < n; i++) {
    x[i] = pairs.getUint16(4 * i, true);
    y[i] = pairs.getUint16(4 * i + 2, true);
  }
  Object.assign(store, {x, y});
  tell("map");
});

function takeClasses(triples) {
  const {n, first, second, sure} = store;
  for (let i = 0, k = 0; i < n; i++) {
    first[i] = triples[k++];
    second[i] = triples[k++];
    sure[i] = triples[k++];
  }
}

function takeNumbers(pairs) {
  const {n, predicted, reach} = store;
  for (let i = 0; i < n; i++) {
    predicted[i] = pairs[2 * i];
    reach[i] = pairs[2 * i + 1];
  }
  arrange();
}

export const loadAnswers = newest(async () => {
  const [buffer, headers] = await bytes("/api/answers");
  if (buffer.byteLength !== (numeric() ? 16 : 3) * store.n) return;
  numeric() ? takeNumbers(new Float64Array(buffer)) : takeClasses(new Uint8Array(buffer));
  store.tier = headers.get("X-Mercer-Tier") || "none";
  store.digest = headers.get("X-Mercer-Digest") || "";
  document.documentElement.dataset.digest = store.digest;
  document.documentElement.dataset.tier = store.tier;
  document.documentElement.dataset.answerRev = headers.get("X-Mercer-Rev") || "";
  tell("answers");
});

export const loadQueue = newest(async () => {
  store.queue = await json("/api/queue");
  for (const [row, rev] of store.skipped) if (rev !== null && rev <= store.queue.rev) store.skipped.delete(row);
  store.hiddenGuess = new Set(store.queue.checks);
  if (store.current?.via === "random") store.hiddenGuess.add(store.current.row);
  for (const row of store.answered) store.hiddenGuess.delete(row);
  echo();
  tell("queue");
});

// Loads everything, at the start and after the connection was lost.
export async function loadAll() {
  try {
    await loadSession();
  } catch (error) {
    if (error instanceof Refused) tell("refused", error);
    return false;
  }
  await Promise.all([sync(), loadMap(), loadAnswers(), loadQueue()]);
  tell("accuracy");
  return true;
}
