// The storage of the browser for this page. If a notebook allows none, values last as long as the frame.
class Memory {
  lasting = false;
  values = new Map();
  getItem = key => this.values.get(key) ?? null;
  setItem = (key, value) => this.values.set(key, value);
  removeItem = key => this.values.delete(key);
  keys = () => [...this.values.keys()];
}

function store(name) {
  try {
    const found = window[name];
    found.setItem("mercer-try", "1");
    found.removeItem("mercer-try");
    return {
      lasting: true,
      getItem: key => found.getItem(key),
      setItem: (key, value) => found.setItem(key, value),
      removeItem: key => found.removeItem(key),
      keys: () => Object.keys(found),
    };
  } catch {
    return new Memory();
  }
}

export const kept = store("localStorage");
export const session = store("sessionStorage");
