// Cells of rows, fetched in batches of at most 200 and kept while they are likely to be shown again.
import {json} from "./api.js";

const KEEP = 3000;
const BATCH = 200;
const kept = new Map(); // row → {row, name, cells, text, image}, a promise of it while it is fetched
const names = new Map();
let asked = [];

// The name of a row, or its number until it is fetched.
export const nameOf = row => names.get(row) ?? "row " + (row + 1);

async function fetchBatch(batch) {
  try {
    const answer = await json("/api/rows?ids=" + batch.map(one => one.row).join(","));
    const found = new Map(answer.rows.map(one => [one.row, one]));
    for (const one of answer.rows) names.set(one.row, one.name);
    for (const {row, resolve} of batch) {
      const data = found.get(row) ?? blank(row);
      if (kept.has(row)) kept.set(row, data);
      resolve(data);
    }
  } catch {
    for (const one of batch) {
      kept.delete(one.row);
      one.resolve(blank(one.row));
    }
  }
}

const blank = row => ({row, name: nameOf(row), cells: [], text: null, image: false, missing: true});

// The row if it was fetched, else a promise of it.
export function getRow(row) {
  if (kept.has(row)) return kept.get(row);
  const promise = new Promise(resolve => {
    if (!asked.length)
      queueMicrotask(() => {
        const all = asked;
        asked = [];
        for (let k = 0; k < all.length; k += BATCH) fetchBatch(all.slice(k, k + BATCH));
      });
    asked.push({row, resolve});
  });
  kept.set(row, promise);
  if (kept.size > KEEP) kept.delete(kept.keys().next().value);
  return promise;
}

export const forget = row => kept.delete(row);
export const getRows = rows => Promise.all(rows.map(getRow));
