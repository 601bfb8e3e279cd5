// Makes the page live. The server draws everything; this file asks for the page again now and then and takes over what
// is different, shows changes of cities at once as `/events` tells of them, and helps with search and keyboard. The chart's
// own behaviour is in chart.js, which follows in the same script.
"use strict";
const page = (() => {
  const body = document.body;
  const find = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];

  // The server's clock, for ages: the reader's may be wrong.
  let offset = 0;
  const setClock = (serverTime) => { offset = serverTime - Date.now(); };
  setClock(Number(body.dataset.now));

  // MARK: Times

  function age(time) {
    const seconds = Math.max(0, Math.floor((Date.now() + offset - time) / 1000));
    if (seconds < 5) return "just now";
    if (seconds < 60) return `${seconds} s ago`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
    if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
    return seconds < 172800 ? "1 day ago" : `${Math.floor(seconds / 86400)} days ago`;
  }

  const setText = (element, text) => { if (element && element.textContent !== text) element.textContent = text; };

  function showAges() {
    for (const time of all("time.ago")) setText(time, age(Date.parse(time.dateTime)));
    setText(find(".now"), localClock(Date.now() + offset, "time"));
  }

  function setAge(time, milliseconds) {
    if (!time) return;
    time.dateTime = new Date(milliseconds).toISOString();
    setText(time, age(milliseconds));
  }

  // The forms of ClockPattern in Chart.swift, in the reader's time zone.
  const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  function localClock(milliseconds, pattern) {
    const time = new Date(milliseconds);
    const two = (number) => String(number).padStart(2, "0");
    const minutes = `${two(time.getHours())}:${two(time.getMinutes())}`;
    const day = `${time.getDate()} ${months[time.getMonth()]}`;
    return { seconds: `${minutes}:${two(time.getSeconds())}`, time: minutes, date: `${day} ${minutes}`, day }[pattern];
  }

  function showClocks(from = document) {
    for (const clock of all("text.clock, span.clock", from)) {
      setText(clock, localClock(Number(clock.dataset.ms), clock.dataset.pattern));
    }
    for (const point of all("circle.point", from)) {
      const title = point.firstElementChild;
      const rest = title.textContent.replace(/^(\d+ [A-Z][a-z]{2} )?[\d:]+ /, "");
      setText(title, `${localClock(Number(point.dataset.ms), point.dataset.pattern)} ${rest}`);
    }
    // With its date where a day begins.
    let day = localClock(Number(find("#area", from)?.dataset.from), "day");
    for (const tick of all(".ticks .clock", from)) {
      const today = localClock(Number(tick.dataset.ms), "day");
      if (tick.dataset.pattern === "time" && today !== day) setText(tick, localClock(Number(tick.dataset.ms), "date"));
      day = today;
    }
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    setText(find(".zone", from), zone ? `your time zone (${zone})` : "your time zone");
    for (const utc of all(".utc", from)) utc.hidden = true;
    setText(find(".now", from), localClock(Date.now() + offset, "time"));
  }

  // MARK: Taking over what the server has drawn anew

  const ours = ["data-flash", "open", "tabindex"];

  // Makes `one` like `other`, keeping the elements that are there: the focus, what is open, and what flashes stays.
  function morph(one, other) {
    if (one.nodeType !== other.nodeType || one.nodeName !== other.nodeName) {
      one.replaceWith(document.importNode(other, true));
      return;
    }
    if (one.nodeType !== Node.ELEMENT_NODE) {
      if (one.data !== other.data) one.data = other.data;
      return;
    }
    if (one.id === "search" || (one.id === "compare" && one === document.activeElement)) return;
    for (const { name } of [...one.attributes]) {
      if (!other.hasAttribute(name) && !ours.includes(name)) one.removeAttribute(name);
    }
    for (const { name, value } of other.attributes) {
      if (one.getAttribute(name) === value) continue;
      one.setAttribute(name, value);
      // What somebody has typed hides the attribute.
      if (name === "value") one.value = value;
    }
    morphChildren(one, other);
  }

  function morphChildren(one, other) {
    const key = (node) => (node.nodeName === "LI" ? node.dataset.city : undefined);
    const known = new Map();
    for (const child of one.childNodes) if (key(child) !== undefined) known.set(key(child), child);
    let place = one.firstChild;
    for (const child of [...other.childNodes]) {
      const name = key(child);
      let match = name === undefined ? place : known.get(name);
      if (match && key(match) !== name) match = null;
      if (!match) {
        one.insertBefore(document.importNode(child, true), place);
        continue;
      }
      if (match === place) place = place.nextSibling;
      else one.insertBefore(match, place);
      if (name !== undefined && match.dataset.category !== child.dataset.category) flash(match);
      morph(match, child);
    }
    while (place) {
      const next = place.nextSibling;
      place.remove();
      place = next;
    }
  }

  function keepingFocus(change) {
    const focused = document.activeElement;
    change();
    if (focused && focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
  }

  let takenAt = Date.now();
  let request = null;
  let refreshTimer = 0;
  let isUp = true;

  // Asks for the page at the current address and takes it over.
  async function refresh() {
    clearTimeout(refreshTimer);
    request?.abort();
    const own = request = new AbortController();
    try {
      const headers = { Accept: "text/html" };
      const answer = await fetch(location.href, { signal: own.signal, cache: "no-cache", headers });
      const text = await answer.text();
      if (own !== request) return;
      // Also a page that says what there is not; a line of text that refuses an address is no page.
      isUp = answer.status < 500;
      if (!isUp) showOutage();
      else if (text.startsWith("<")) take(new DOMParser().parseFromString(text, "text/html"));
    } catch (error) {
      if (error.name === "AbortError") return;
      isUp = false;
      showOutage();
    }
    if (own !== request) return;
    request = null;
    schedule(stream?.readyState === EventSource.OPEN && isUp ? 10000 : 5000);
  }

  function schedule(milliseconds) {
    clearTimeout(refreshTimer);
    if (isShown) refreshTimer = setTimeout(refresh, milliseconds);
  }

  // Soon, once, however often it is asked for.
  let isDue = false;
  function refreshSoon() {
    if (isDue) return;
    isDue = true;
    setTimeout(() => { isDue = false; if (isShown) refresh(); }, 1000);
  }

  function take(page) {
    takenAt = Date.now();
    setClock(Number(page.body.dataset.now));
    showClocks(page);
    document.title = page.title;
    keepingFocus(() => {
      for (const part of [".top", ".banner", "main", "footer"]) {
        const [one, other] = [find(part), find(part, page)];
        if (one && other) morph(one, other);
      }
    });
    showAges();
    document.dispatchEvent(new Event("redrawn"));
  }

  // The server cannot be reached.
  function showOutage() {
    const banner = find(".banner");
    banner.hidden = false;
    const shown = find(".feed .ago") ? " The last known readings are shown." : "";
    const text = `Live data interrupted since ${localClock(takenAt + offset, "time")}.${shown}`;
    if (banner.textContent !== text) banner.textContent = text;
    find(".feed").classList.replace("live", "stale");
    const word = find(".feed > :last-child").firstChild;
    word.data = word.data.replace(/^Live/, "Interrupted");
  }

  // MARK: Changes of cities, as they come

  function flash(element) {
    element.removeAttribute("data-flash");
    // Reading it makes the animation begin anew.
    void element.offsetWidth;
    element.setAttribute("data-flash", "");
    clearTimeout(element.flashTimer);
    element.flashTimer = setTimeout(() => element.removeAttribute("data-flash"), 4000);
  }

  function showCity(element, city) {
    const time = find(".updated time", element);
    if (time && Date.parse(time.dateTime) > city.updated_ms) return;
    const index = find(".index", element);
    element.dataset.aqi = index.value = city.aqi.toFixed(2);
    setText(index, String(Math.floor(city.aqi)));
    setAge(time, city.updated_ms);
    if (Number(element.dataset.category) === city.category) return;
    const chip = find(`.summary [data-category="${city.category}"]`);
    element.classList.replace(`c${element.dataset.category}`, `c${city.category}`);
    element.dataset.category = city.category;
    if (chip) {
      find(".disc use", element).setAttribute("href", `#face-${city.category}`);
      setText(find(".word", element), chip.dataset.name);
    }
    element.dataset.changed = city.changed_ms ?? 0;
    flash(element);
    refreshSoon();
  }

  // Only what is out of its place is moved.
  function sort(list) {
    const by = list.dataset.sort;
    const number = (row) => Number(by === "index" ? row.dataset.aqi : row.dataset.changed);
    const rows = [...list.children];
    if (by === "name") return;
    const sorted = rows
      .map((row, place) => [number(row), place, row])
      .sort((one, other) => other[0] - one[0] || one[1] - other[1]);
    if (sorted.every(([, place], index) => place === index)) return;
    keepingFocus(() => {
      let place = list.firstElementChild;
      for (const [, , row] of sorted) {
        if (row === place) place = place.nextElementSibling;
        else list.insertBefore(row, place);
      }
    });
  }

  function showCities(event) {
    const list = find("ol.cities");
    const rows = new Map(list ? [...list.children].map((row) => [row.dataset.city, row]) : []);
    const current = find(".current");
    for (const city of JSON.parse(event.data).cities) {
      const row = rows.get(city.city);
      if (row) showCity(row, city);
      else if (list?.dataset.alone === "1" && !find("#search").value) refreshSoon();
      if (current?.dataset.city === city.city) {
        showCity(current, city);
        if (!new URLSearchParams(location.search).has("to")) refreshSoon();
      }
    }
    if (list) sort(list);
    else if (find("p.empty")) refreshSoon();
  }

  let stream = null;
  let retryTimer = 0;

  function connect() {
    clearTimeout(retryTimer);
    if (!body.dataset.events || stream) return;
    stream = new EventSource(new URL(body.dataset.events, location.href));
    stream.addEventListener("cities", showCities);
    // What changed between this page and the stream's beginning.
    stream.addEventListener("open", () => {
      body.dataset.live = "";
      if (Date.now() - takenAt > 1000) refreshSoon();
    });
    stream.addEventListener("error", () => {
      delete body.dataset.live;
      if (stream?.readyState !== EventSource.CLOSED) return;
      // Refused: the page is asked for instead, and the stream tried again later.
      disconnect();
      schedule(1000);
      retryTimer = setTimeout(connect, 60000);
    });
  }

  function disconnect() {
    clearTimeout(retryTimer);
    stream?.close();
    stream = null;
    delete body.dataset.live;
  }

  // MARK: The address

  function go(address, isStep = true) {
    if (isStep) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
    refresh();
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a");
    if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const address = new URL(link.getAttribute("href"), location.href);
    // Another look at the same page; all others are left to the browser.
    if (address.origin !== location.origin || address.pathname !== location.pathname || address.hash) return;
    if (link.target || link.closest(".skip")) return;
    event.preventDefault();
    const search = find("#search");
    if (search) search.value = address.searchParams.get("search") ?? "";
    go(address);
  });

  addEventListener("popstate", () => {
    const search = find("#search");
    if (search) search.value = new URLSearchParams(location.search).get("search") ?? "";
    refresh();
  });

  let searchTimer = 0;
  function searchNow() {
    const address = new URL(location.href);
    const text = find("#search").value.trim();
    address.searchParams.delete("page");
    if (text) address.searchParams.set("search", text);
    else address.searchParams.delete("search");
    go(address, false);
  }
  document.addEventListener("input", (event) => {
    if (event.target.id !== "search") return;
    clearTimeout(searchTimer);
    searchTimer = setTimeout(searchNow, 200);
  });
  document.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.target.closest(".retry")) {
      const button = find("button", event.target);
      button.disabled = true;
      fetch(event.target.action, { method: "POST" })
        .finally(() => { button.disabled = false; refreshSoon(); });
    } else if (event.target.closest(".compare")) {
      const address = new URL(location.href);
      const other = find("#compare").value.trim();
      if (other) address.searchParams.set("compare", other);
      else address.searchParams.delete("compare");
      go(address);
    } else {
      clearTimeout(searchTimer);
      searchNow();
    }
  });

  // The map is hidden from who has the page read aloud: nothing in it may have the focus.
  document.addEventListener("mousedown", (event) => { if (event.target.closest?.(".map")) event.preventDefault(); });

  // MARK: Keyboard

  document.addEventListener("keydown", (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const target = event.target;
    const row = target.closest?.("li.city");
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (row && step) {
      const next = step > 0 ? row.nextElementSibling : row.previousElementSibling;
      (next ? find("a", next) : step < 0 && find("#search"))?.focus();
      event.preventDefault();
    } else if (target.id === "search" && event.key === "ArrowDown") {
      find("li.city a")?.focus();
      event.preventDefault();
    }
  });

  // MARK: Life

  // A hidden page, in a background tab or in the back/forward cache, must not keep its stream open: a browser has only
  // six connections to a host.
  let isShown = true;
  function rest() {
    isShown = false;
    disconnect();
    clearTimeout(refreshTimer);
    request?.abort();
  }
  function wake(isNew) {
    if (document.hidden) return rest();
    isShown = true;
    connect();
    if (isNew) schedule(10000);
    else refresh();
  }
  addEventListener("pagehide", rest);
  addEventListener("pageshow", (event) => wake(!event.persisted));
  document.addEventListener("visibilitychange", () => wake(false));
  setInterval(() => { if (isShown) showAges(); }, 1000);
  showClocks();
  return { all, find, go, setText };
})();
