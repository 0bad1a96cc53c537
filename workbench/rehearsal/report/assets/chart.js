// Frame of the chart: time axis, events, curves of nodes and of waiting pods. All parts share one scale of time.

const STEPS = [10, 30, 60, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800];
const CURVES = { nodes: 84, waiting: 56 };
const WORKS = 6; // colours; further works repeat them with stripes
const POOLS = 6;

const workClass = (data, pod) => {
  if (!pod.work) return "system";
  const index = data.works.indexOf(pod.work);
  return `work-${index % WORKS}${index >= WORKS ? " striped" : ""}`;
};

const poolClass = (index) => `pool-${index % POOLS}`;

const scaleOf = (data, width) => {
  const left = width < 640 ? 30 : 150;
  const right = width - 14;
  const x = (at) => left + ((right - left) * Math.min(Math.max(at, 0), data.lasts)) / data.lasts;
  return { left, right, width, x, isNarrow: width < 640, at: (px) => ((px - left) / (right - left)) * data.lasts };
};

const stepPath = (steps, scale, y, base) => {
  let path = "";
  steps.forEach(([at, value], index) => {
    const px = scale.x(at).toFixed(1);
    const py = y(value).toFixed(1);
    path += index ? `H${px}V${py}` : `M${px} ${py}`;
  });
  return base === undefined ? path : `${path}V${base}H${scale.x(0).toFixed(1)}Z`;
};

const label = (x, y, text, attributes = {}) => svg("text", { x, y, ...attributes }, text);

const cut = (text, width, each = 6.2) => {
  const room = Math.floor(width / each);
  return text.length <= room ? text : room < 4 ? "" : `${text.slice(0, room - 1)}…`;
};

const axis = (data, scale, height) => {
  const group = svg("g", { class: "axis" });
  const most = scale.isNarrow ? 5 : 10;
  const step = STEPS.find((each) => data.lasts / each <= most) ?? data.lasts;
  for (let at = 0; at <= data.lasts + 0.5; at += step) {
    const x = scale.x(at);
    const anchor = at === 0 ? "start" : data.lasts - at < step / 4 ? "end" : "middle";
    group.append(svg("line", { x1: x, x2: x, y1: 16, y2: height }), label(x, 11, duration(at), { "text-anchor": anchor }));
  }
  return group;
};

const events = (data, scale, top, height) => {
  const group = svg("g", { class: "events" });
  let last = -Infinity;
  data.events.forEach((event, index) => {
    const x = scale.x(event.at);
    const mark = svg("g", { class: "event" }, svg("title", {}, `${duration(event.at)} ${event.event}: ${event.text}`));
    mark.append(svg("line", { x1: x, x2: x, y1: top + 15, y2: height }));
    const place = Math.max(x, last + 17);
    if (place - x < 40 && place < scale.width - 8) {
      mark.append(svg("circle", { cx: place, cy: top + 8, r: 8 }), label(place, top + 11.5, String(index + 1), { "text-anchor": "middle" }));
      last = place;
    }
    group.append(mark);
  });
  return group;
};

// Nodes of all pools, stacked: the area between two curves is a pool.
const nodesCurve = (data, scale, top) => {
  const group = svg("g", { class: "curve" });
  const most = Math.max(1, highest(nodeCurve(data)));
  const y = (value) => top + CURVES.nodes - (value / most) * (CURVES.nodes - 8);
  const bottom = top + CURVES.nodes;
  const below = [];
  const areas = [];
  data.pools.forEach((pool, index) => {
    below.push(...data.nodes.filter((node) => node.pool === pool.name));
    const steps = curve(below.map((node) => [node.created, node.until, 1]), data.lasts);
    areas.unshift(svg("path", { class: `area ${poolClass(index)}`, d: stepPath(steps, scale, y, bottom) }, svg("title", {}, pool.name)));
  });
  group.append(...areas, ...gauge(scale, top, bottom, "Nodes", most, y));
  return group;
};

const waitingArea = (data, scale, top) => {
  const steps = waitingCurve(data);
  const most = Math.max(1, highest(steps));
  const bottom = top + CURVES.waiting;
  const y = (value) => bottom - (value / most) * (CURVES.waiting - 8);
  const group = svg("g", { class: "curve" });
  group.append(
    svg("path", { class: "area waits", d: stepPath(steps, scale, y, bottom) }),
    svg("path", { class: "edge waits", d: stepPath(steps, scale, y) }),
    ...gauge(scale, top, bottom, scale.isNarrow ? "Waiting" : "Waiting pods", most, y),
  );
  return group;
};

const gauge = (scale, top, bottom, name, most, y) => {
  const title = scale.isNarrow
    ? label(scale.left, top + 1, name, { class: "name" })
    : label(0, top + (bottom - top) / 2 + 4, name, { class: "name" });
  return [
    svg("line", { class: "base", x1: scale.left, x2: scale.right, y1: bottom, y2: bottom }),
    svg("line", { class: "top", x1: scale.left, x2: scale.right, y1: y(most), y2: y(most) }),
    label(scale.left - 6, y(most) + 4, most.toLocaleString("en"), { "text-anchor": "end" }),
    label(scale.left - 6, bottom + 1, "0", { "text-anchor": "end" }),
    title,
  ];
};

const patterns = () => {
  const hatch = (id, size, width) =>
    svg(
      "pattern",
      { id, width: size, height: size, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("line", { class: id, x1: 0, x2: 0, y1: 0, y2: size, "stroke-width": width }),
    );
  return svg("defs", {}, hatch("spot-hatch", 6, 3), hatch("stripe-hatch", 7, 5));
};

// Draws the whole chart into its box; returns what the slider needs.
const draw = (box, data, state) => {
  const width = Math.max(280, Math.floor(state.width ?? box.clientWidth));
  const scale = scaleOf(data, width);
  const curves = 22 + (data.events.length ? 22 : 4);
  const gap = scale.isNarrow ? 24 : 16;
  const waiting = curves + CURVES.nodes + gap;
  const below = waiting + CURVES.waiting + 14;
  const drawn = lanes(data, scale, below, state);
  const height = drawn.bottom + 6;
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": summaryOf(data) });
  root.append(patterns(), axis(data, scale, height - 4), drawn.group);
  const cursor = svg("line", { class: "cursor", y1: 16, y2: height });
  root.append(nodesCurve(data, scale, curves), waitingArea(data, scale, waiting), cursor, events(data, scale, 20, height - 4));
  box.replaceChildren(root);
  return { root, scale, cursor, hidden: drawn.hidden };
};

const summaryOf = (data) => {
  const most = highest(nodeCurve(data));
  const waits = highest(waitingCurve(data));
  return `${plural(data.nodes.length, "node")} and ${plural(data.pods.length, "pod")} over ${duration(data.lasts)}: at most ${plural(most, "node")} at a time, at most ${waits} waiting pods.`;
};
