// The world of a rendered page: its clock, its chance and its doors. It runs before any
// script of a page, in every frame. What can be told is told through the binding.
(() => {
  "use strict";
  const tell = globalThis.rippleTells;
  delete globalThis.rippleTells;
  const refuse = (method, url, reason) => tell(JSON.stringify({ method, url: absolute(url), reason }));
  const absolute = (url) => {
    try { return new URL(url, document.baseURI).href; } catch { return String(url); }
  };
  const put = (object, name, value) =>
    Object.defineProperty(object, name, { value, writable: true, configurable: true, enumerable: false });
  const show = (object, name, get) => Object.defineProperty(object, name, { get, configurable: true, enumerable: true });

  // The clock, in milliseconds: every reading is one later, and a timer's time has come
  // when it fires, whatever passed in truth.
  const birth = Date.UTC(2026, 0, 1, 12);
  let clock = birth;
  const read = () => ++clock;
  const reach = (time) => { if (time > clock) clock = time; };

  const { setTimeout: native, clearTimeout, setInterval: repeat, XMLHttpRequest } = globalThis;
  const soon = scheduler.postTask.bind(scheduler);

  // A database answers in true time. Meanwhile timers do not fire, and requests that block until the visit answers
  // them give it that time; see visit.pause. The page's time stands still, since there is always a task to run.
  let outstanding = 0, pausing = false, pauses = 0, stopped = [];
  const late = new Map(); // timers that were ever stopped, by id
  // The time of the latest timer, in milliseconds. A timer does not fire if it is due when the page's time ends, or
  // later: one of that very moment would race against the end. The browser's budget is a little larger, see tab.go.
  let reached = 0;
  const lifetime = 10_000;
  const stop = (timer) => {
    if (timer.cleared || timer.due >= lifetime) return;
    if (!outstanding) {
      reached = Math.max(reached, timer.due);
      return timer.handler();
    }
    stopped.push(timer);
    late.set(timer.id, timer);
  };
  const wait = (delay) => Math.min(Math.max(Number(delay) || 0, 0), 2 ** 31 - 1);
  const later = (handler, delay) => {
    const timer = { handler, due: reached + wait(delay) };
    return timer.id = native(() => stop(timer), delay);
  };
  const often = (handler, delay) => {
    const timer = { handler, due: reached };
    return timer.id = repeat(() => { timer.due += wait(delay); stop(timer); }, delay);
  };
  const never = (id) => {
    clearTimeout(id);
    if (late.has(id)) late.get(id).cleared = true;
  };
  put(globalThis, "clearTimeout", function clearTimeout(id) { never(id); });
  put(globalThis, "clearInterval", function clearInterval(id) { never(id); });
  const resume = () => {
    const timers = stopped;
    stopped = [];
    for (const timer of timers) native(() => stop(timer), 0);
  };
  const pause = () => {
    if (pausing) return;
    pausing = true;
    soon(block);
  };
  const block = () => {
    pausing = outstanding > 0;
    if (!pausing) return;
    if (++pauses > 2000) { outstanding = 0; pausing = false; resume(); return; }
    const request = new XMLHttpRequest();
    request.open("GET", "https://pause.invalid/", false);
    try { request.send(); } catch { /* always */ }
    soon(block);
  };
  // holds makes a method hold the page's time until its result fires one of some events, or as a promise is settled.
  const holds = (prototype, name, ends) => {
    const real = prototype[name];
    put(prototype, name, function (...args) {
      const result = real.apply(this, args);
      let over = pauses > 2000;
      if (!over && ++outstanding === 1) pause();
      const end = () => {
        if (over || !outstanding) return;
        over = true;
        if (--outstanding === 0) resume();
      };
      if (ends) for (const type of ends) result.addEventListener(type, end);
      else result.then(end, end);
      return result;
    });
  };
  if (globalThis.IDBFactory) {
    for (const name of ["open", "deleteDatabase"]) holds(IDBFactory.prototype, name, ["success", "error", "blocked"]);
    holds(IDBDatabase.prototype, "transaction", ["complete", "abort"]);
    holds(IDBFactory.prototype, "databases");
  }
  const call = (handler, args) => {
    if (typeof handler === "function") handler.apply(globalThis, args);
    else (0, eval)(String(handler));
  };
  put(globalThis, "setTimeout", function setTimeout(handler, delay, ...args) {
    const due = clock + wait(delay);
    return later(() => { reach(due); call(handler, args); }, delay);
  });
  put(globalThis, "setInterval", function setInterval(handler, delay, ...args) {
    let due = clock;
    return often(() => { due += wait(delay); reach(due); call(handler, args); }, delay);
  });
  put(globalThis, "requestAnimationFrame", function requestAnimationFrame(handler) {
    const due = clock + 16;
    return later(() => { reach(due); handler(read() - birth); }, 16);
  });
  put(globalThis, "cancelAnimationFrame", function cancelAnimationFrame(id) { never(id); });
  put(globalThis, "requestIdleCallback", function requestIdleCallback(handler) {
    return later(() => handler({ didTimeout: false, timeRemaining: () => 10 }), 1);
  });
  put(globalThis, "cancelIdleCallback", function cancelIdleCallback(id) { never(id); });

  const RealDate = Date;
  function OurDate(...args) {
    if (!new.target) return new RealDate(read()).toString();
    return Reflect.construct(RealDate, args.length ? args : [read()], new.target);
  }
  for (const name of ["parse", "UTC"]) put(OurDate, name, RealDate[name]);
  put(OurDate, "now", function now() { return read(); });
  Object.defineProperty(OurDate, "name", { value: "Date" });
  Object.defineProperty(OurDate, "length", { value: 7 });
  Object.defineProperty(OurDate, "prototype", { value: RealDate.prototype, writable: false });
  put(RealDate.prototype, "constructor", OurDate);
  put(globalThis, "Date", OurDate);
  const format = Intl.DateTimeFormat.prototype;
  const { formatToParts, resolvedOptions } = format;
  const bound = Object.getOwnPropertyDescriptor(format, "format").get;
  show(format, "format", function () {
    const inner = bound.call(this);
    return (date) => inner(date === undefined ? read() : date);
  });
  put(format, "formatToParts", function (date) { return formatToParts.call(this, date === undefined ? read() : date); });
  if (globalThis.Temporal) {
    const instant = () => Temporal.Instant.fromEpochMilliseconds(read());
    const zoned = (zone) => instant().toZonedDateTimeISO(zone ?? resolvedOptions.call(new Intl.DateTimeFormat()).timeZone);
    put(Temporal.Now, "instant", instant);
    put(Temporal.Now, "zonedDateTimeISO", zoned);
    put(Temporal.Now, "plainDateTimeISO", (zone) => zoned(zone).toPlainDateTime());
    put(Temporal.Now, "plainDateISO", (zone) => zoned(zone).toPlainDate());
    put(Temporal.Now, "plainTimeISO", (zone) => zoned(zone).toPlainTime());
  }

  // A file is as old as its page, unless it says otherwise.
  const dated = new WeakSet(), { File } = globalThis;
  const modified = Object.getOwnPropertyDescriptor(File.prototype, "lastModified").get;
  put(globalThis, "File", new Proxy(File, {
    construct(real, args, target) {
      const file = Reflect.construct(real, args, target);
      if (args[2]?.lastModified !== undefined) dated.add(file);
      return file;
    },
  }));
  put(File.prototype, "constructor", globalThis.File);
  show(File.prototype, "lastModified", function () {
    const time = modified.call(this);
    return dated.has(this) ? time : birth;
  });

  // Measurements are of the true clock, so there are none.
  put(Performance.prototype, "now", function now() { return read() - birth; });
  show(Performance.prototype, "timeOrigin", () => birth);
  for (const name of ["getEntries", "getEntriesByType", "getEntriesByName"]) put(Performance.prototype, name, () => []);
  show(Performance.prototype, "memory", () => undefined);
  put(PerformanceObserver.prototype, "observe", function observe() {});
  const times = new Proxy({}, { get: (_, name) => (name === "toJSON" ? () => ({}) : birth) });
  show(Performance.prototype, "timing", () => times);
  show(Event.prototype, "timeStamp", () => clock - birth);
  show(Document.prototype, "lastModified", () => "01/01/2026 12:00:00");

  // Chance: xorshift of 32 bits (Marsaglia 2003), the same in every frame.
  let state = 2463534242;
  const chance = () => {
    state ^= state << 13; state ^= state >>> 17; state ^= state << 5;
    return state >>> 0;
  };
  put(Math, "random", function random() { return chance() / 2 ** 32; });
  put(Crypto.prototype, "getRandomValues", function getRandomValues(array) {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = chance() >>> 24;
    return array;
  });
  put(Crypto.prototype, "randomUUID", function randomUUID() {
    const hex = Array.from({ length: 32 }, () => (chance() >>> 28).toString(16));
    hex[12] = "4"; hex[16] = (8 + (chance() >>> 30)).toString(16);
    return [8, 12, 16, 20, 32].map((end, i, ends) => hex.slice(i ? ends[i - 1] : 0, end).join("")).join("-");
  });

  // When garbage is collected depends on what the process did before, so none is seen to be.
  put(globalThis, "WeakRef", class WeakRef {
    #target;
    constructor(target) {
      new WeakSet([target]); // throws what the real one throws for what it cannot hold
      this.#target = target;
    }
    deref() { return this.#target; }
    get [Symbol.toStringTag]() { return "WeakRef"; }
  });
  put(globalThis, "FinalizationRegistry", class FinalizationRegistry {
    #tokens = new WeakSet();
    constructor(cleanup) {
      if (typeof cleanup !== "function") throw new TypeError("FinalizationRegistry: cleanup must be callable");
    }
    register(target, held, token) { if (token !== undefined) this.#tokens.add(token); }
    unregister(token) { return this.#tokens.delete(token); }
    get [Symbol.toStringTag]() { return "FinalizationRegistry"; }
  });

  // Observers look at the layout ten times a second of the page's time, not when a frame
  // happens to be drawn.
  const watched = new Set();
  let looking = false;
  const look = () => {
    if (looking) return;
    looking = true;
    const due = clock + 100;
    later(() => {
      looking = false;
      reach(due);
      for (const observer of [...watched]) observer.look();
      if (watched.size) look();
    }, 100);
  };
  class Observer {
    #handler; #targets = new Map();
    constructor(handler) { this.#handler = handler; }
    observe(target) {
      if (!this.#targets.has(target)) this.#targets.set(target, undefined);
      watched.add(this);
      look();
    }
    unobserve(target) { this.#targets.delete(target); }
    disconnect() { this.#targets.clear(); watched.delete(this); }
    takeRecords() { return []; }
    look() {
      const entries = [];
      for (const [target, before] of this.#targets) {
        const entry = this.entry(target), now = this.state(entry);
        if (now === before) continue;
        this.#targets.set(target, now);
        entries.push(entry);
      }
      if (entries.length) this.#handler.call(this, entries, this);
    }
  }
  class OurIntersectionObserver extends Observer {
    constructor(handler, options = {}) {
      super(handler);
      this.root = options?.root ?? null;
      this.rootMargin = options?.rootMargin ?? "0px 0px 0px 0px";
      this.thresholds = [options?.threshold ?? 0].flat();
    }
    entry(target) {
      const box = target.getBoundingClientRect();
      const root = this.#within(this.root?.getBoundingClientRect?.() ?? new DOMRect(0, 0, innerWidth, innerHeight));
      const left = Math.max(box.left, root.left), right = Math.min(box.right, root.right);
      const [top, bottom] = [Math.max(box.top, root.top), Math.min(box.bottom, root.bottom)];
      const meets = target.isConnected && target.getClientRects().length > 0 && left <= right && top <= bottom;
      const common = meets ? new DOMRect(left, top, right - left, bottom - top) : new DOMRect();
      const area = box.width * box.height;
      return {
        target, time: clock - birth, boundingClientRect: box, rootBounds: root, intersectionRect: common,
        isIntersecting: meets, intersectionRatio: area ? common.width * common.height / area : Number(meets),
      };
    }
    #within(root) {
      const margins = this.rootMargin.trim().split(/\s+/).map((margin) => parseFloat(margin) || 0);
      const [top, right = top, bottom = top, left = right] = margins;
      return new DOMRect(root.x - left, root.y - top, root.width + left + right, root.height + top + bottom);
    }
    state(entry) { return `${entry.isIntersecting} ${this.thresholds.filter((t) => entry.intersectionRatio >= t).length}`; }
  }
  class OurResizeObserver extends Observer {
    entry(target) {
      const contentRect = new DOMRect(0, 0, target.clientWidth ?? 0, target.clientHeight ?? 0);
      const size = [{ inlineSize: contentRect.width, blockSize: contentRect.height }];
      return { target, contentRect, borderBoxSize: size, contentBoxSize: size, devicePixelContentBoxSize: size };
    }
    state(entry) { return `${entry.contentRect.width} ${entry.contentRect.height}`; }
  }
  put(globalThis, "IntersectionObserver", OurIntersectionObserver);
  put(globalThis, "ResizeObserver", OurResizeObserver);

  // Doors: what is neither GET nor HEAD of a page is refused as if nobody was there.
  const emit = (target, type) => {
    const event = new Event(type);
    target["on" + type]?.(event);
    target.dispatchEvent(event);
  };
  const closed = (kind, ready) => class extends EventTarget {
    constructor(url) {
      super();
      refuse("GET", url, kind);
      this.url = absolute(url);
      this.readyState = ready;
      for (const type of ["open", "message", "error", "close"]) this["on" + type] ??= null;
      later(() => { for (const type of ["error", "close"]) emit(this, type); }, 1);
    }
    send() {} close() {} terminate() {} postMessage() {}
    get port() { return { start() {}, close() {}, postMessage() {}, addEventListener() {} }; }
  };
  const states = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 };
  put(globalThis, "WebSocket", Object.assign(closed("websocket", 3), states));
  put(globalThis, "EventSource", Object.assign(closed("eventsource", 2), { CONNECTING: 0, OPEN: 1, CLOSED: 2 }));
  put(globalThis, "Worker", closed("worker"));
  put(globalThis, "SharedWorker", closed("worker"));
  // What a page may have, but not use, is there and refuses, because many pages do not check for it.
  const denied = (what) => new DOMException(`${what} is not allowed`, "NotAllowedError");
  const rejected = (what) => {
    const promise = Promise.reject(denied(what));
    promise.catch(() => {}); // a page that ignores it has no unhandled rejection
    return promise;
  };
  const unavailable = (name, refusals) => {
    if (!(name in globalThis)) return; // for example because the page is not secure
    put(globalThis, name, { [name]: class extends EventTarget {
      constructor(url) {
        super();
        if (name.startsWith("Web")) refuse("GET", url, "websocket");
        for (const property of refusals.properties ?? []) this[property] = rejected(name);
      }
    } }[name]);
    for (const method of refusals.methods ?? []) put(globalThis[name].prototype, method, () => rejected(name));
    put(globalThis[name].prototype, "close", function close() {});
  };
  unavailable("WebTransport", { properties: ["ready", "closed"] });
  unavailable("WebSocketStream", { properties: ["opened", "closed"] });
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) {
    unavailable(name, {
      methods: ["createOffer", "createAnswer", "setLocalDescription", "setRemoteDescription", "addIceCandidate", "getStats"],
    });
    if (!(name in globalThis)) continue;
    for (const method of ["addTrack", "addTransceiver", "createDataChannel"]) {
      put(globalThis[name].prototype, method, () => { throw denied(name); });
    }
  }
  put(globalThis, "Notification", class Notification extends EventTarget {
    static permission = "denied";
    static maxActions = 2;
    static async requestPermission(callback) { callback?.("denied"); return "denied"; }
    constructor() {
      super();
      later(() => emit(this, "error"), 1);
    }
    close() {}
  });
  if ("serviceWorker" in Navigator.prototype) {
    const workers = Object.assign(new EventTarget(), {
      controller: null, oncontrollerchange: null, onmessage: null, onmessageerror: null, ready: new Promise(() => {}),
      register: () => rejected("ServiceWorker"), getRegistration: async () => undefined, getRegistrations: async () => [],
      startMessages() {},
    });
    show(Navigator.prototype, "serviceWorker", () => workers);
  }

  // The browser's own process takes true time to answer, while the page's time goes on. Locks and caches of
  // the page are kept here instead, and files are refused.
  if (globalThis.LockManager) {
    const tails = new Map(); // by name: the end of the last lock that was requested
    put(LockManager.prototype, "request", async function request(name, ...rest) {
      const callback = rest.pop(), { mode = "exclusive", ifAvailable, steal } = rest[0] ?? {};
      const lock = { name: String(name), mode };
      if (ifAvailable && tails.has(name)) return callback(null);
      const before = mode === "shared" || steal ? undefined : tails.get(name);
      const result = (async () => { await before; return callback(lock); })();
      const tail = result.catch(() => {}).then(() => { if (tails.get(name) === tail) tails.delete(name); });
      tails.set(name, tail);
      return result;
    });
    put(LockManager.prototype, "query", async () => ({ held: [], pending: [] }));
  }
  if (globalThis.CacheStorage) {
    const { fetch } = globalThis, stores = new Map();
    const address = (request) => absolute(request?.url ?? request);
    class Cache {
      #answers = new Map();
      async match(request) { return this.#answers.get(address(request))?.clone(); }
      async matchAll(request) {
        const all = request === undefined ? [...this.#answers.values()] : [this.#answers.get(address(request))];
        return all.filter(Boolean).map((answer) => answer.clone());
      }
      async put(request, answer) { this.#answers.set(address(request), answer); }
      async add(request) { await this.addAll([request]); }
      async addAll(requests) {
        const answers = await Promise.all(requests.map((request) => fetch(request)));
        if (answers.some((answer) => !answer.ok)) throw new TypeError("Request failed");
        requests.forEach((request, i) => this.put(request, answers[i]));
      }
      async delete(request) { return this.#answers.delete(address(request)); }
      async keys() { return [...this.#answers.keys()].map((url) => new Request(url)); }
    }
    put(globalThis, "Cache", Cache);
    for (const [name, method] of Object.entries({
      async open(name) {
        if (!stores.has(name)) stores.set(name, new Cache());
        return stores.get(name);
      },
      async has(name) { return stores.has(name); },
      async delete(name) { return stores.delete(name); },
      async keys() { return [...stores.keys()]; },
      async match(request) {
        for (const store of stores.values()) {
          const answer = await store.match(request);
          if (answer) return answer;
        }
      },
    })) put(CacheStorage.prototype, name, method);
  }
  if (globalThis.StorageManager) {
    put(StorageManager.prototype, "estimate", async () => ({ quota: 10 * 2 ** 30, usage: 0, usageDetails: {} }));
    put(StorageManager.prototype, "persist", async () => false);
    put(StorageManager.prototype, "persisted", async () => false);
    put(StorageManager.prototype, "getDirectory", () => rejected("Storage"));
  }

  // The store of cookies is document.cookie, which answers at once.
  if (globalThis.CookieStore) {
    const cookie = Object.getOwnPropertyDescriptor(Document.prototype, "cookie");
    const named = (of) => {
      const name = typeof of === "object" ? of?.name : of;
      const all = cookie.get.call(document).split("; ").filter(Boolean).map((text) => {
        const [name, ...value] = text.split("=");
        return { name, value: value.join("=") };
      });
      return name === undefined ? all : all.filter((one) => one.name === String(name));
    };
    const write = ({ name, value, domain, path = "/", sameSite = "strict" }, age) => {
      const fields = [`${name}=${value}`, `Path=${path}`, `SameSite=${sameSite}`];
      if (fields.some((field) => /[;\x00-\x1f\x7f]/.test(field))) throw new TypeError("A cookie has no such characters");
      if (domain) fields.push(`Domain=${domain}`);
      if (age !== undefined) fields.push(`Max-Age=${age}`);
      cookie.set.call(document, fields.join("; "));
    };
    const options = (of, value) => (typeof of === "object" ? of : { name: of, value });
    for (const [name, method] of Object.entries({
      async get(of) { return named(of)[0] ?? null; },
      async getAll(of) { return named(of); },
      async set(of, value) {
        const { expires, ...rest } = options(of, value);
        write(rest, expires == null ? undefined : Math.round((Number(expires) - clock) / 1000));
      },
      async delete(of) { write({ ...options(of), value: "" }, 0); },
    })) put(CookieStore.prototype, name, method);
  }

  // Nobody is there to permit anything, and there are no devices.
  if (globalThis.Permissions) {
    put(Permissions.prototype, "query", async function query(of) {
      if (of?.name === undefined) throw new TypeError("A permission has a name");
      const status = Object.setPrototypeOf(new EventTarget(), PermissionStatus.prototype);
      for (const [name, value] of Object.entries({ name: String(of.name), state: "denied", onchange: null })) {
        put(status, name, value);
      }
      return status;
    });
  }
  if (globalThis.MediaDevices) {
    put(MediaDevices.prototype, "enumerateDevices", async () => []);
    for (const name of ["getUserMedia", "getDisplayMedia"]) put(MediaDevices.prototype, name, () => rejected("A device"));
  }

  // Images are not loaded. As on a server without them, each fires an error, soon and in their order, unless it
  // is part of the page. An element fires a few errors only, since many a page sets an image that is not there
  // in place of another one.
  const images = new WeakMap(); // how many events of an element are due or past
  const inPage = (image) => /^(data|blob):/i.test(image.getAttribute("src") ?? "");
  const settle = (image) => {
    const events = images.get(image) ?? 0;
    if (events >= 3 || !image.getAttribute("src") && !image.getAttribute("srcset")) return;
    images.set(image, events + 1);
    later(() => image.dispatchEvent(new Event(inPage(image) ? "load" : "error")), 1);
  };
  const settleAll = (node) => {
    if (node instanceof HTMLImageElement) return images.has(node) || settle(node);
    if (node.querySelectorAll) for (const image of node.querySelectorAll("img")) images.has(image) || settle(image);
  };

  // Animations and transitions show no frames, but end when they are due. They are looked for one frame after
  // something has changed.
  const roots = [document], animations = new WeakSet();
  const { animate, attachShadow, setAttribute } = Element.prototype;
  const end = (animation, elapsed) => {
    if (animation.playState !== "running") return;
    const target = animation.effect?.target, of = { bubbles: true, elapsedTime: elapsed / 1000 };
    animation.finish();
    animation.dispatchEvent(new AnimationPlaybackEvent("finish", { currentTime: elapsed, timelineTime: clock - birth }));
    if (animation instanceof CSSTransition) {
      target?.dispatchEvent(new TransitionEvent("transitionend", { ...of, propertyName: animation.transitionProperty }));
    } else if (animation instanceof CSSAnimation) {
      target?.dispatchEvent(new AnimationEvent("animationend", { ...of, animationName: animation.animationName }));
    }
  };
  const run = (animation) => {
    const { endTime, delay } = animation.effect?.getComputedTiming() ?? {};
    if (animations.has(animation) || animation.playState !== "running" || !Number.isFinite(endTime)) return;
    animations.add(animation);
    const due = clock + endTime;
    later(() => { reach(due); end(animation, endTime - delay); }, endTime);
  };
  let changed = false;
  const change = () => {
    if (changed) return;
    changed = true;
    later(() => {
      changed = false;
      for (const root of roots) root.getAnimations().forEach(run);
    }, 16);
  };
  put(Element.prototype, "animate", function (...args) {
    const animation = animate.apply(this, args);
    run(animation);
    return animation;
  });
  if (document.startViewTransition) {
    put(Document.prototype, "startViewTransition", function startViewTransition(change) {
      const update = typeof change === "function" ? change : change?.update;
      const updateCallbackDone = new Promise((drawn) => later(drawn, 16)).then(() => update?.());
      const finished = updateCallbackDone.then(() => new Promise((shown) => later(shown, 250)));
      finished.catch(() => {}); // a page that ignores it has no unhandled rejection
      return { updateCallbackDone, ready: updateCallbackDone, finished, types: new Set(change?.types), skipTransition() {} };
    });
  }

  const changes = new MutationObserver((records) => {
    change();
    for (const record of records) record.addedNodes.forEach(settleAll);
  });
  const follow = (root) => changes.observe(root, { attributes: true, childList: true, subtree: true });
  follow(document);
  put(Element.prototype, "attachShadow", function (options) {
    const root = attachShadow.call(this, options);
    roots.push(root);
    follow(root);
    return root;
  });
  for (const name of ["src", "srcset"]) {
    const { get, set } = Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, name);
    Object.defineProperty(HTMLImageElement.prototype, name, {
      get, set(value) { set.call(this, value); settle(this); }, configurable: true, enumerable: true,
    });
  }
  put(HTMLImageElement.prototype, "setAttribute", function (name, value) {
    setAttribute.call(this, name, value);
    if (/^src(set)?$/i.test(name)) settle(this);
  });
  put(HTMLImageElement.prototype, "decode", function decode() {
    return inPage(this) ? Promise.resolve() : Promise.reject(new DOMException("The image is not loaded", "EncodingError"));
  });
  show(HTMLImageElement.prototype, "complete", () => true);

  put(Navigator.prototype, "sendBeacon", function sendBeacon(url) { refuse("POST", url, "beacon"); return true; });
  put(globalThis, "open", function open(url) {
    if (url) refuse("", url, "navigation");
    return null;
  });
  put(globalThis, "alert", function alert() {});
  put(globalThis, "print", function print() {});
  put(globalThis, "confirm", function confirm() { return false; });
  put(globalThis, "prompt", function prompt() { return null; });
})();
