// Lines around places in which marks overlap, like contour lines on a map.
const LEVELS = [3, 6, 12, 24, 48, 96, 192]; // rows in the place of one mark

// Rows in each square of `side` pixels, smoothed over its neighbors.
function counted({width, height}, px, py, side) {
  const wide = Math.ceil(width / side) + 2;
  const high = Math.ceil(height / side) + 2;
  const counts = new Float32Array(wide * high);
  for (let row = 0; row < px.length; row++)
    if (px[row] >= 0 && py[row] >= 0 && px[row] < width && py[row] < height)
      counts[(Math.floor(py[row] / side) + 1) * wide + Math.floor(px[row] / side) + 1]++;
  for (const step of [1, wide]) {
    const before = counts.slice();
    for (let k = step; k < counts.length - step; k++) counts[k] = (before[k - step] + 2 * before[k] + before[k + step]) / 4;
  }
  return {counts, wide, high};
}

// Marks pixels of the buffer at which the density crosses a level. `ink` blends a color into one of them.
export function contours(raster, px, py, side, ink) {
  const {counts, wide, high} = counted(raster, px, py, side);
  const level = value => LEVELS.reduce((sum, one) => sum + (value >= one ? 1 : 0), 0);
  for (let v = 0; v < high - 1; v++)
    for (let u = 0; u < wide - 1; u++) {
      const at = v * wide + u;
      const [a, b, c, d] = [counts[at], counts[at + 1], counts[at + wide], counts[at + wide + 1]];
      if (Math.max(a, b, c, d) < LEVELS[0] || level(Math.max(a, b, c, d)) === level(Math.min(a, b, c, d))) continue;
      const value = (i, j) => level(((a * (side - i) + b * i) * (side - j) + (c * (side - i) + d * i) * j) / (side * side));
      for (let j = 0; j < side; j++)
        for (let i = 0; i < side; i++) {
          const here = value(i, j);
          if (here !== value(i + 1, j) || here !== value(i, j + 1))
            ink(Math.round((u - 0.5) * side) + i, Math.round((v - 0.5) * side) + j);
        }
    }
}
