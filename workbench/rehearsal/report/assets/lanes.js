// Lanes: one for each node, grouped by pool, with its pods as bars. Beyond some number nodes share a lane.

const LANES = 60; // lanes of nodes in a chart, before nodes share one
const ROWS = 8; // rows of bars in a lane, before it shows shares instead
const BARS = 3000; // bars in a chart, before lanes show shares instead
const ROW = 13;
const SHARED = 34;

const lanes = (data, scale, top, state) => {
  const group = svg("g", { class: "lanes" });
  const limit = state.all ? 400 : Math.max(4, Math.floor(LANES / Math.max(1, data.pools.length)));
  const budget = { bars: state.all ? BARS * 3 : BARS };
  const fits = data.nodes.length <= LANES;
  let y = top;
  let hidden = 0;
  data.pools.forEach((pool, index) => {
    const nodes = data.nodes.filter((node) => node.pool === pool.name).sort((a, b) => a.created - b.created);
    const shown = fits ? nodes : nodes.slice(0, limit);
    const rest = nodes.slice(shown.length);
    y = heading(group, pool, index, nodes, scale, y);
    for (const node of shown) y = lane(group, data, node, scale, y, budget);
    if (rest.length) y = shared(group, data, rest, scale, y);
    hidden += rest.length;
    y += 10;
  });
  return { group, bottom: y, hidden };
};

const heading = (group, pool, index, nodes, scale, y) => {
  const facts = `${pool.machines}, ${pool.lifecycles.join(" and ")}, nodes ${pool.sizes}`;
  const name = cut(pool.name, scale.isNarrow ? 120 : 190, 7);
  group.append(
    svg("line", { class: "rule", x1: 0, x2: scale.right, y1: y + 2, y2: y + 2 }),
    svg("rect", { class: poolClass(index), x: 0, y: y + 10, width: 10, height: 10, rx: 2 }),
    label(16, y + 19, name, { class: "pool" }),
    label(16 + name.length * 7.6 + 14, y + 19, cut(facts, scale.right - name.length * 7.6 - 34), { class: "dim" }),
  );
  if (!nodes.length) group.append(label(scale.left, y + 36, "no node in this time", { class: "dim" }));
  return y + (nodes.length ? 28 : 42);
};

const tip = (node) => {
  const gone = node.gone === null ? "" : `, gone at ${duration(node.gone)}${node.cause ? ` (${node.cause})` : ""}`;
  const ready = node.ready === null ? "never ready" : `ready at ${duration(node.ready)}`;
  return `${node.name}, ${node.lifecycle}${node.zone ? `, ${node.zone}` : ""}: ${ready}${gone}`;
};

const lane = (group, data, node, scale, top, budget) => {
  const bars = node.pods.filter((pod) => isOurs(pod) && pod.from < data.lasts && pod.until > 0);
  const rows = pack(bars);
  const asBars = rows <= ROWS && budget.bars >= bars.length;
  const y = top + (scale.isNarrow ? 12 : 0);
  const height = asBars ? Math.max(1, rows) * ROW + 3 : SHARED;
  const end = Math.min(node.until, data.lasts);
  const start = Math.max(node.created, 0);
  const made = svg("g", { class: "lane" }, svg("title", {}, tip(node)));
  const frame = { y, height, rx: 2 };
  if (end > start) {
    const ready = Math.min(Math.max(node.ready ?? end, start), end);
    const [a, b, c] = [start, ready, end].map(scale.x);
    made.append(svg("rect", { ...frame, class: "starting", x: a, width: Math.max(0, b - a) }));
    made.append(svg("rect", { ...frame, class: `node ${node.lifecycle === "spot" ? "spot" : "steady"}`, x: b, width: Math.max(0, c - b) }));
  }
  const name = cut(node.name, scale.isNarrow ? scale.right - scale.left : scale.left - 14);
  made.append(scale.isNarrow ? label(scale.left, y - 3, name, { class: "node-name" }) : label(0, y + height / 2 + 4, name, { class: "node-name" }));
  group.append(made);
  if (asBars) {
    budget.bars -= bars.length;
    for (const pod of bars) group.append(bar(data, pod, scale, y));
  } else {
    group.append(shares(data, [node], scale, y, height));
  }
  if (node.gone !== null && node.gone <= data.lasts && node.cause && node.cause !== "autoscaler") {
    group.append(cross(Math.min(scale.x(node.gone) + 9, scale.right), y + height / 2, 5, `${node.name}: ${node.cause}`));
  }
  return y + height + (scale.isNarrow ? 5 : 4);
};

const cross = (x, y, r, title) =>
  svg("path", { class: "cross", d: `M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}` }, svg("title", {}, title));

const bar = (data, pod, scale, top) => {
  const x = scale.x(pod.from);
  const width = Math.max(1.5, scale.x(Math.min(pod.until, data.lasts)) - x - 0.7);
  const y = top + 2 + pod.row * ROW;
  const kind = workClass(data, pod);
  const what = [pod.work || pod.kind, pod.team].filter(Boolean).join(", ");
  const ended = pod.ended === null ? "runs at the end" : `${pod.end} at ${duration(pod.ended)}`;
  const made = svg("g", { class: `pod ${kind}` });
  const from = pod.started === null ? "has not started" : `runs from ${duration(pod.started)}`;
  made.append(
    svg("title", {}, `${pod.name} (${what}): ${from}, ${ended}${pod.cause ? `, ${pod.cause}` : ""}`),
    svg("rect", { x, y, width, height: ROW - 2, rx: 2 }),
  );
  if (kind.includes("striped")) made.append(svg("rect", { class: "stripes", x, y, width, height: ROW - 2, rx: 2 }));
  const text = cut(pod.name, width - 8, 5.4);
  if (text && width > 40) made.append(label(x + 4, y + 8.6, text));
  if (LOST.has(pod.end)) made.append(cross(x + width - 3, y + ROW / 2 - 1, 3, `${pod.end}: ${pod.cause}`));
  if (pod.end === "failed") made.append(cross(x + width - 3, y + ROW / 2 - 1, 3, "failed"));
  return made;
};

// How much of nodes is requested: the larger of the shares of CPU, memory and GPUs.
const shares = (data, nodes, scale, y, height) => {
  const group = svg("g", { class: "shares" });
  const whole = nodes.reduce((sum, node) => sum + Math.max(node.cpu, 1), 0);
  const spans = nodes.flatMap((node) =>
    node.pods.map((pod) => {
      const parts = [pod.cpu / Math.max(node.cpu, 1), pod.memory / Math.max(node.memory, 1), node.gpus ? pod.gpus / node.gpus : 0];
      return [pod.from, pod.until, (Math.max(...parts) * Math.max(node.cpu, 1)) / whole];
    }),
  );
  const steps = curve(spans, data.lasts);
  const level = (value) => y + height - Math.min(1, value) * (height - 2);
  group.append(svg("path", { class: "share", d: stepPath(steps, scale, level, y + height) }));
  return group;
};

const shared = (group, data, nodes, scale, top) => {
  const y = top + (scale.isNarrow ? 12 : 0);
  const steps = curve(nodes.map((node) => [node.created, node.until, 1]), data.lasts);
  const most = Math.max(1, highest(steps));
  const level = (value) => y + SHARED - (value / most) * (SHARED - 2);
  const title = `${nodes.length} more nodes; at most ${most} at a time. The darker area is the share that pods request.`;
  group.append(svg("path", { class: "many", d: stepPath(steps, scale, level, y + SHARED) }, svg("title", {}, title)));
  const spans = nodes.flatMap((node) =>
    node.pods.map((pod) => {
      const parts = [pod.cpu / Math.max(node.cpu, 1), pod.memory / Math.max(node.memory, 1), node.gpus ? pod.gpus / node.gpus : 0];
      return [pod.from, pod.until, Math.max(...parts)];
    }),
  );
  group.append(svg("path", { class: "share", d: stepPath(curve(spans, data.lasts), scale, level, y + SHARED) }));
  const text = `${nodes.length} more nodes`;
  group.append(scale.isNarrow ? label(scale.left, y - 3, text, { class: "node-name" }) : label(0, y + SHARED / 2 + 4, text, { class: "node-name" }));
  return y + SHARED + 4;
};
