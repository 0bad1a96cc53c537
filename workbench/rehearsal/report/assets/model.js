"use strict";

// Rows of the embedded data become objects, and figures of any moment are computed from them.

const LOST = new Set(["lost", "preempted"]);

const decode = (raw) => {
  const objects = (rows, fields) => rows.map((row) => Object.fromEntries(fields.map((name, at) => [name, row[at]])));
  const nodes = objects(raw.nodes, raw.nodeFields);
  const pods = objects(raw.pods, raw.podFields);
  for (const node of nodes) {
    node.until = node.gone ?? Infinity;
    node.pods = [];
  }
  for (const pod of pods) {
    pod.until = pod.ended ?? Infinity;
    pod.from = pod.scheduled ?? pod.started;
    pod.reason = pod.reason < 0 ? "" : raw.texts[pod.reason];
    if (pod.node >= 0 && pod.from !== null) nodes[pod.node].pods.push(pod);
  }
  const works = [...new Set(pods.map((pod) => pod.work).filter(Boolean))];
  return { ...raw, nodes, pods, works };
};

const isHere = (node, at) => node.created <= at && at < node.until;
const isReady = (node, at) => node.ready !== null && node.ready <= at && at < node.until;
const isOn = (pod, at) => pod.from !== null && pod.from <= at && at < pod.until;
const isWaiting = (pod, at) => pod.created <= at && at < pod.until && (pod.started === null || at < pod.started);
const isOurs = (pod) => pod.kind !== "daemon-set";

// What the pods of a node request at a moment.
const used = (node, at) => {
  const sum = { cpu: 0, memory: 0, gpus: 0, pods: 0 };
  for (const pod of node.pods) {
    if (!isOn(pod, at)) continue;
    sum.cpu += pod.cpu;
    sum.memory += pod.memory;
    sum.gpus += pod.gpus;
    if (isOurs(pod)) sum.pods += 1;
  }
  return sum;
};

// A curve as [moment, value] steps, from [start, end, amount] spans, within 0 and the end of the scenario.
const curve = (spans, lasts) => {
  const changes = new Map([[0, 0]]);
  for (const [start, end, amount] of spans) {
    if (end <= 0 || start > lasts || end <= start) continue;
    const from = Math.max(0, start);
    changes.set(from, (changes.get(from) ?? 0) + amount);
    if (end <= lasts) changes.set(end, (changes.get(end) ?? 0) - amount);
  }
  let value = 0;
  const steps = [...changes].sort((a, b) => a[0] - b[0]).map(([at, change]) => [at, (value += change)]);
  return [...steps, [lasts, value]];
};

const highest = (steps) => steps.reduce((most, [, value]) => Math.max(most, value), 0);

const nodeCurve = (data, pool) =>
  curve(data.nodes.filter((node) => !pool || node.pool === pool).map((node) => [node.created, node.until, 1]), data.lasts);

const waitingCurve = (data) =>
  curve(data.pods.filter((pod) => pod.work).map((pod) => [pod.created, pod.started ?? pod.until, 1]), data.lasts);

// Bars in as few rows as they need, so that none overlaps another; returns the number of rows.
const pack = (bars) => {
  const ends = [];
  for (const bar of [...bars].sort((a, b) => a.from - b.from || a.name.localeCompare(b.name))) {
    let row = ends.findIndex((end) => end <= bar.from);
    if (row < 0) row = ends.length;
    ends[row] = bar.until;
    bar.row = row;
  }
  return ends.length;
};

const duration = (seconds) => {
  let left = Math.abs(seconds) < 600 ? Math.round(seconds) : Math.round(seconds / 60) * 60;
  const sign = left < 0 ? "-" : "";
  left = Math.abs(left);
  let text = "";
  for (const [unit, size] of [["d", 86400], ["h", 3600], ["m", 60], ["s", 1]]) {
    const number = Math.floor(left / size);
    left -= number * size;
    if (number) text += number + unit;
  }
  return sign + (text || "0s");
};

const clock = (seconds) => {
  const whole = Math.round(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
};

const plural = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

// Elements; texts become text nodes, never markup.
const SVG = "http://www.w3.org/2000/svg";
const fill = (made, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const html = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
