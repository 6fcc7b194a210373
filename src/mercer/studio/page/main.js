// Puts the parts of the page together, then loads the session and listens.
import * as accuracy from "./accuracy.js";
import * as classes from "./classes.js";
import * as filters from "./filters.js";
import * as history from "./history.js";
import * as keys from "./keys.js";
import * as map from "./map.js";
import * as next from "./next.js";
import * as review from "./review.js";
import * as selection from "./selection.js";
import * as sheet from "./sheet.js";
import * as tabs from "./tabs.js";
import * as top from "./top.js";
import {follow, lead} from "./events.js";
import {restore} from "./outbox.js";
import {loadAll} from "./sync.js";
import {store, tell} from "./store.js";

for (const part of [tabs, top, classes, filters, map, selection, next, review, accuracy, history, sheet, keys]) part.start();

async function begin() {
  if (await loadAll()) {
    await restore();
    lead();
    document.documentElement.dataset.ready = "true";
    return;
  }
  store.connected = false;
  tell("connection", "");
  setTimeout(begin, 1500);
}
follow();
begin();
