// Draws the rows as points on a canvas; the pointer shows the nearest row, the legend hides and shows classes.
(() => {
  const data = JSON.parse(document.getElementById("points").textContent);
  const canvas = document.getElementById("scatter"), tip = document.getElementById("tip");
  const box = canvas.parentElement, context = canvas.getContext("2d"), n = data.x.length;
  const diamond = data.given.reduce((a, b) => a + b, 0) > 100 ? 4 : 6.5;  // many would hide the dots
  const hidden = new Set(), buttons = document.querySelectorAll("[data-code]");
  let width, height, near = -1;
  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const place = i => [14 + data.x[i] / data.grid * (width - 28), height - 14 - data.y[i] / data.grid * (height - 28)];
  const colour = i => data.code[i] < 0 ? faint : palette[data.code[i] % palette.length];
  let palette, ink, faint;

  function mark(i, grow) {
    const [x, y] = place(i);
    context.beginPath();
    if (data.given[i]) {
      const r = diamond + grow;
      context.moveTo(x, y - r); context.lineTo(x + r, y); context.lineTo(x, y + r); context.lineTo(x - r, y);
      context.closePath();
      context.fillStyle = colour(i); context.fill();
      context.lineWidth = diamond / 4; context.strokeStyle = ink; context.stroke();
    } else {
      context.arc(x, y, (n > 4000 ? 2 : 2.8) + grow, 0, 7);
      if (data.code[i] < 0) { context.lineWidth = 1; context.strokeStyle = faint; context.stroke(); }
      else { context.globalAlpha = grow ? 1 : 0.35 + 0.5 * data.confidence[i] / 100; context.fillStyle = colour(i); context.fill(); }
      context.globalAlpha = 1;
    }
  }
  function draw() {
    context.clearRect(0, 0, width, height);
    for (const given of [0, 1])
      for (let i = 0; i < n; i++) if (data.given[i] === given && !hidden.has(data.code[i])) mark(i, 0);
    if (near >= 0) mark(near, 2);
  }
  function resize() {
    const ratio = window.devicePixelRatio || 1;
    width = box.clientWidth; height = Math.max(280, Math.min(560, Math.round(width * 0.62)));
    canvas.width = width * ratio; canvas.height = height * ratio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    palette = Array.from({length: 12}, (_, k) => style("--c" + k));
    ink = style("--ink"); faint = style("--faint");
    draw();
  }
  function line(text, strong) {
    const row = document.createElement(strong ? "strong" : "span");
    row.textContent = text; tip.appendChild(row);
  }
  function show(event) {
    const frame = canvas.getBoundingClientRect();
    const px = event.clientX - frame.left, py = event.clientY - frame.top;
    let best = 24 * 24, found = -1;
    for (let i = 0; i < n; i++) {
      if (hidden.has(data.code[i])) continue;
      const [x, y] = place(i), d = (x - px) ** 2 + (y - py) ** 2 - (data.given[i] ? 30 : 0);
      if (d < best) { best = d; found = i; }
    }
    if (found !== near) { near = found; draw(); }
    tip.hidden = found < 0;
    if (found < 0) return;
    tip.textContent = "";
    line("row " + data.names[found], true);
    const name = data.code[found] < 0 ? "left unlabelled" : data.classes[data.code[found]];
    line(data.given[found] ? name + " (given)" : name + ", confidence " + (data.confidence[found] / 100).toFixed(2));
    for (const column in data.cells) line(column + ": " + data.cells[column][found]);
    const [x, y] = place(found);
    tip.style.left = Math.min(Math.max(0, x + 12), Math.max(0, width - tip.offsetWidth - 4)) + "px";
    tip.style.top = (y + 14 + tip.offsetHeight > height ? Math.max(0, y - tip.offsetHeight - 12) : y + 14) + "px";
  }
  function leave() { near = -1; tip.hidden = true; draw(); }
  canvas.addEventListener("pointermove", show);
  canvas.addEventListener("pointerdown", show);
  canvas.addEventListener("pointerleave", leave);
  for (const button of buttons) button.addEventListener("click", () => {
    const code = Number(button.dataset.code), off = !hidden.has(code);
    off ? hidden.add(code) : hidden.delete(code);
    button.setAttribute("aria-pressed", String(!off));
    leave();
  });
  window.addEventListener("resize", resize);
  // Paper is light whatever the screen is; the canvas must be drawn so before the page is laid out for print.
  for (const [name, paper] of [["beforeprint", true], ["afterprint", false]])
    window.addEventListener(name, () => { document.documentElement.classList.toggle("paper", paper); resize(); });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", resize);
  resize();
})();
