// Draws the rows as points on a canvas; the pointer shows the nearest row, the legend hides and shows classes.
for (const box of document.querySelectorAll(".plot")) {
  const data = JSON.parse(box.querySelector(".points").textContent);
  const canvas = box.querySelector("canvas"), tip = box.querySelector(".tip");
  const context = canvas.getContext("2d"), n = data.x.length, many = data.many;
  const large = data.given.reduce((a, b) => a + b, 0) > 100 ? 4 : 6.5;  // many would hide the dots
  const hidden = new Set(), buttons = box.parentElement.querySelectorAll("[data-code]");
  // Corners of the shapes after the dot, as in the style sheet: square, triangle, cross, triangle on its tip.
  const shapes = [null, [-1, -1, 1, -1, 1, 1, -1, 1], [0, -1.2, 1.2, 1, -1.2, 1],
    [-.4, -1.2, .4, -1.2, .4, -.4, 1.2, -.4, 1.2, .4, .4, .4, .4, 1.2, -.4, 1.2, -.4, .4, -1.2, .4, -1.2, -.4, -.4, -.4],
    [0, 1.2, 1.2, -1, -1.2, -1]], diamond = [0, -1, 1, 0, 0, 1, -1, 0];
  let width, height, near = -1;
  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const place = i => [14 + data.x[i] / data.grid * (width - 28), height - 14 - data.y[i] / data.grid * (height - 28)];
  const color = i => data.code[i] < 0 ? faint : palette[data.code[i]];
  let palette, ink, faint;

  function path(corners, x, y, r) {
    context.beginPath();
    if (corners === null) { context.arc(x, y, r, 0, 7); return; }
    for (let k = 0; k < corners.length; k += 2) context.lineTo(x + r * corners[k], y + r * corners[k + 1]);
    context.closePath();
  }
  function mark(i, grow) {
    const [x, y] = place(i), given = data.given[i], left = data.code[i] < 0;
    const shape = left ? null : shapes[data.palette[data.code[i]]?.[1] ?? 0];
    const size = (given ? large * (many ? 0.8 : 1) : n > 4000 ? 2 : 2.8) + grow;
    path(given && !many ? diamond : shape, x, y, size);
    if (left) { context.lineWidth = 1; context.strokeStyle = faint; context.stroke(); return; }
    const sure = data.confidence ? data.confidence[i] / 100 : 0.8;
    context.globalAlpha = given || grow ? 1 : 0.35 + 0.5 * sure;
    context.fillStyle = color(i); context.fill();
    context.globalAlpha = 1;
    if (given) { context.lineWidth = large / 4; context.strokeStyle = ink; context.stroke(); }
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
    palette = data.classes.length ? data.palette.map(([name]) => style(name)) : [style("--c0")];
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
    const name = data.code[found] < 0 ? "left unlabeled" : data.classes[data.code[found]];
    const sure = data.confidence ? ", confidence " + (data.confidence[found] / 100).toFixed(2) : "";
    if (data.classes.length) line(name + (data.given[found] ? " (given)" : sure));
    for (const column in data.cells) if (data.cells[column][found]) line(column + ": " + data.cells[column][found]);
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
}
