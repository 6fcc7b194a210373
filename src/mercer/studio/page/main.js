// Puts the parts of the page together, then loads the session and listens.
import * as annotator from "./annotator.js";
import * as accuracy from "./accuracy.js";
import * as coming from "./coming.js";
import * as classes from "./classes.js";
import * as end from "./end.js";
import * as filters from "./filters.js";
import * as history from "./history.js";
import * as keys from "./keys.js";
import * as layout from "./layout.js";
import * as map from "./map.js";
import * as next from "./next.js";
import * as regions from "./regions.js";
import * as review from "./review.js";
import * as selection from "./selection.js";
import * as sheet from "./sheet.js";
import * as tabs from "./tabs.js";
import * as top from "./top.js";
import {follow, lead} from "./events.js";
import * as outbox from "./outbox.js";
import {loadAll} from "./sync.js";
import {store, tell} from "./store.js";

const parts = [tabs, top, layout, classes, filters, map, regions, selection, next, coming, review, accuracy, annotator, end, history];
for (const part of [...parts, sheet, keys, outbox]) part.start();

async function begin() {
  if (await loadAll()) {
    await outbox.restore();
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
