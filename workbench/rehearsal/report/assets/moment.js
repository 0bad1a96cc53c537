// The moment that the slider chooses: its line in the chart, and what every node holds and has free then.

const CARDS = 60; // nodes shown with their pods
const CHIPS = 14; // pods named on a node
const WAITERS = 20;

const free = (name, whole, taken, text) => {
  const share = whole ? Math.min(100, (100 * taken) / whole) : 0;
  const meter = html("span", { class: "meter" }, html("span", { class: "level" }));
  meter.firstChild.style.width = `${share.toFixed(1)}%`;
  return html("div", { class: "free" }, html("span", { class: "what" }, name), meter, html("span", { class: "left" }, text));
};

const gib = (mib) => `${(mib / 1024).toFixed(mib < 10240 ? 1 : 0)} GiB`;

const chip = (data, pod) => {
  const made = html("span", { class: `chip ${workClass(data, pod)}` }, pod.name);
  made.title = [pod.work || pod.kind, pod.team].filter(Boolean).join(", ");
  return made;
};

const card = (data, node, at) => {
  const ours = node.pods.filter((pod) => isOn(pod, at) && isOurs(pod));
  const others = node.pods.filter((pod) => isOn(pod, at) && !isOurs(pod)).length;
  const sum = used(node, at);
  const state = isReady(node, at) ? node.lifecycle : `${node.lifecycle}, starting`;
  const head = html("div", { class: "head" }, html("strong", {}, node.name), html("span", { class: node.lifecycle === "spot" ? "lifecycle spot" : "lifecycle on-demand" }, state));
  const made = html("div", { class: "card" }, head);
  made.append(free("CPU", node.cpu, sum.cpu, `${((node.cpu - sum.cpu) / 1000).toFixed(1)} free`));
  made.append(free("Memory", node.memory, sum.memory, `${gib(node.memory - sum.memory)} free`));
  if (node.gpus) made.append(free("GPU", node.gpus, sum.gpus, `${node.gpus - sum.gpus} free`));
  const chips = html("div", { class: "chips" }, ...ours.slice(0, CHIPS).map((pod) => chip(data, pod)));
  if (ours.length > CHIPS) chips.append(html("small", {}, `and ${ours.length - CHIPS} more`));
  if (!ours.length) chips.append(html("small", {}, "no pod of the scenario"));
  if (others) chips.append(html("small", {}, `+ ${plural(others, "DaemonSet pod")}`));
  made.append(chips);
  return made;
};

const waiters = (data, at) => {
  const waiting = data.pods.filter((pod) => pod.work && isWaiting(pod, at)).sort((a, b) => a.created - b.created);
  if (!waiting.length) return [];
  const chips = waiting.slice(0, WAITERS).map((pod) => {
    const made = chip(data, pod);
    made.append(html("span", { class: "since" }, ` ${duration(at - pod.created)}`));
    made.title = pod.reason || made.title;
    return made;
  });
  if (waiting.length > WAITERS) chips.push(html("small", {}, `and ${waiting.length - WAITERS} more`));
  return [html("h4", {}, `${plural(waiting.length, "pod")} waiting`), html("div", { class: "chips" }, ...chips)];
};

const report = (data, at) => {
  const here = data.nodes.filter((node) => isHere(node, at));
  const running = data.pods.filter((pod) => pod.work && pod.started !== null && pod.started <= at && at < pod.until).length;
  const waiting = data.pods.filter((pod) => pod.work && isWaiting(pod, at)).length;
  return { here, text: `${plural(here.length, "node")}, ${plural(running, "pod")} running, ${waiting} waiting` };
};

const show = (section, data, drawn, at) => {
  const { here, text } = report(data, at);
  section.querySelector("output").replaceChildren(html("b", {}, clock(at)), ` ${text}`);
  section.querySelector("input").setAttribute("aria-valuetext", `${duration(at)}: ${text}`);
  drawn.cursor.setAttribute("x1", drawn.scale.x(at));
  drawn.cursor.setAttribute("x2", drawn.scale.x(at));
  const panel = section.querySelector(".moment");
  const parts = [html("h4", {}, `Nodes at ${clock(at)}`)];
  let room = CARDS;
  for (const pool of data.pools) {
    const nodes = here.filter((node) => node.pool === pool.name);
    const chosen = nodes.slice(0, Math.max(0, room));
    room -= chosen.length;
    const name = html("p", { class: "of" }, html("strong", {}, pool.name), ` ${plural(nodes.length, "node")} of at most ${pool.most}`);
    parts.push(name, html("div", { class: "cards" }, ...chosen.map((node) => card(data, node, at))));
    if (nodes.length > chosen.length) parts.push(html("p", { class: "dim" }, `and ${plural(nodes.length - chosen.length, "node")} more`));
  }
  panel.replaceChildren(...waiters(data, at), ...parts);
};

const legend = (section, data) => {
  const item = (kind, text) => html("span", { class: "key" }, html("i", { class: kind }), text);
  const keys = data.works.slice(0, 18).map((work) => item(workClass(data, { work }), work));
  if (data.works.length > 18) keys.push(html("span", { class: "key" }, `and ${data.works.length - 18} more works`));
  if (data.pods.some((pod) => !pod.work && isOurs(pod))) keys.push(item("system", "core services"));
  if (data.nodes.some((node) => node.lifecycle === "spot")) keys.push(item("spot", "spot node"));
  keys.push(item("steady", "on-demand node"), item("starting", "node starting"), item("crossed", "lost or failed"));
  section.querySelector(".legend").replaceChildren(...keys);
};
