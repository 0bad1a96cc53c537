// Brings the parts together: draws an outcome when it is chosen, redraws it for other widths and for paper.

const PAPER = 1000;
const outcomes = JSON.parse(document.getElementById("data").textContent);
const articles = [...document.querySelectorAll("[data-outcome]")];
const shown = new Map(); // what is drawn, by the number of the outcome

const build = (index) => {
  const section = articles[index].querySelector(".timeline");
  if (!section || !outcomes[index]) return null;
  const made = { section, data: decode(outcomes[index]), state: {}, drawn: null };
  const slider = section.querySelector("input");
  slider.max = Math.floor(made.data.lasts);
  slider.step = Math.max(1, Math.round(made.data.lasts / 600));
  slider.value = start(made.data);
  slider.addEventListener("input", () => show(section, made.data, made.drawn, Number(slider.value)));
  const go = (at) => {
    slider.value = Math.min(Math.max(0, at), made.data.lasts);
    show(section, made.data, made.drawn, Number(slider.value));
  };
  for (const button of section.querySelectorAll("button[data-at]")) {
    button.addEventListener("click", () => go(Number(button.dataset.at)));
  }
  const box = section.querySelector(".chart");
  const follow = (event) => {
    const edge = box.getBoundingClientRect();
    go(made.drawn.scale.at(((event.clientX - edge.left) * made.drawn.scale.width) / edge.width));
  };
  box.addEventListener("pointerdown", follow);
  box.addEventListener("pointermove", (event) => event.buttons === 1 && event.pointerType === "mouse" && follow(event));
  legend(section, made.data);
  return made;
};

// The moment around which most pods wait, which readers look for first. Without waits it is the middle.
const start = (data) => {
  const windows = new Array(100).fill(0);
  const size = data.lasts / windows.length;
  const steps = waitingCurve(data);
  steps.slice(0, -1).forEach(([at, value], index) => {
    for (let left = at, end = steps[index + 1][0]; left < end - 1e-6; ) {
      const window = Math.min(windows.length - 1, Math.floor(left / size + 1e-9));
      const until = Math.min(end, Math.max((window + 1) * size, left + 1e-3));
      windows[window] += value * (until - left);
      left = until;
    }
  });
  const most = Math.max(...windows);
  return most ? (windows.indexOf(most) + 0.5) * size : data.lasts / 2;
};

const render = (index, width) => {
  if (!shown.has(index)) shown.set(index, build(index));
  const made = shown.get(index);
  if (!made) return;
  made.state.width = width;
  made.drawn = draw(made.section.querySelector(".chart"), made.data, made.state);
  show(made.section, made.data, made.drawn, Number(made.section.querySelector("input").value));
  offer(made, index);
};

// A button for nodes that share a lane.
const offer = (made, index) => {
  const old = made.section.querySelector(".offer");
  if (old) old.remove();
  if (!made.drawn.hidden && !made.state.all) return;
  const text = made.state.all ? "Show fewer nodes" : `Show more nodes (${made.drawn.hidden} share a lane)`;
  const button = html("button", { type: "button", class: "offer" }, text);
  button.addEventListener("click", () => {
    made.state.all = !made.state.all;
    render(index);
  });
  made.section.querySelector(".chart").after(button);
};

let current = 0;

const pick = (index) => {
  if (!articles[index]) return;
  current = index;
  articles.forEach((article, at) => article.classList.toggle("away", at !== index));
  for (const link of document.querySelectorAll("[data-pick]")) {
    if (Number(link.dataset.pick) === index) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  const picker = document.getElementById("picker");
  if (picker) picker.value = String(index);
  render(index);
};

const picker = document.getElementById("picker");
if (picker) {
  picker.parentElement.hidden = false;
  picker.addEventListener("change", () => pick(Number(picker.value)));
}
for (const link of document.querySelectorAll("[data-pick]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    pick(Number(link.dataset.pick));
    articles[current].scrollIntoView({ block: "start" });
  });
}

let width = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth === width) return;
  width = window.innerWidth;
  requestAnimationFrame(() => render(current));
});
window.addEventListener("beforeprint", () => articles.forEach((_, index) => render(index, PAPER)));
window.addEventListener("afterprint", () => render(current));

const wanted = Number((/^#outcome-(\d+)$/.exec(location.hash) ?? [])[1] ?? 0);
const missed = articles.findIndex((article) => article.querySelector(".missed"));
pick(location.hash ? wanted : Math.max(0, missed));
