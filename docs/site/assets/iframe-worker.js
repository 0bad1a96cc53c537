// The site's search runs in a worker, and Chromium starts none for a page that was opened from a folder. There, this runs
// the worker's script in a hidden frame instead. Because of its name the generator loads none from elsewhere.
"use strict";
if (location.protocol === "file:") {
  const deliver = (target, data) => {
    const copy = structuredClone(data);
    setTimeout(() => target.dispatchEvent(new MessageEvent("message", { data: copy })));
  };

  window.Worker = class extends EventTarget {
    onmessage = null;
    onerror = null;
    #frame = document.createElement("iframe");
    #ready;

    constructor(url) {
      super();
      this.addEventListener("message", (event) => this.onmessage?.(event));
      this.addEventListener("error", (event) => this.onerror?.(event));
      this.#frame.hidden = true;
      this.#frame.srcdoc = "<!doctype html><title>worker</title>";
      this.#ready = new Promise((resolve) => this.#frame.addEventListener("load", resolve, { once: true }))
        .then(() => this.#run(new URL(url, document.baseURI).href));
      document.documentElement.append(this.#frame);
    }

    #run(url) {
      const inside = this.#frame.contentWindow;
      const script = inside.document.createElement("script");
      inside.postMessage = (data) => deliver(this, data);
      inside.addEventListener("error", (event) => this.dispatchEvent(new ErrorEvent("error", { message: event.message })));
      return new Promise((resolve) => {
        script.addEventListener("load", () => resolve(inside));
        script.addEventListener("error", () => this.dispatchEvent(new ErrorEvent("error", { message: `no ${url}` })));
        script.src = url;
        inside.document.head.append(script);
      });
    }

    postMessage(data) {
      const copy = structuredClone(data);
      this.#ready.then((inside) => deliver(inside, copy));
    }

    terminate() {
      this.#frame.remove();
    }
  };
}
