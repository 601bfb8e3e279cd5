// Keeps the page live: fetches it again when /events reports a change, and applies the differences.
"use strict";
const find = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];
const set = (element, values) => Object.entries(values).forEach(([name, value]) => element.setAttribute(name, value));
const setText = (element, text) => { if (element && element.textContent !== text) element.textContent = text; };

// MARK: Times, by the server's clock and in the reader's time zone
let offset = Number(document.body.dataset.now) - Date.now();
function age(time, word) {
  const seconds = Math.max(0, Math.floor((Date.now() + offset - time) / 1000));
  const units = [[172800, 86400, "days"], [3600, 3600, "h"], [60, 60, "min"], [5, 1, "s"]];
  const [, size, unit] = units.find(([least]) => seconds >= least) ?? [];
  return unit ? `${Math.floor(seconds / size)} ${unit} ${word}` : "just now";
}
// Same forms as ClockPattern.swift.
function clock(milliseconds, pattern) {
  const time = new Date(milliseconds);
  const day = `${time.getDate()} ${time.toLocaleString("en", { month: "short" })}`;
  const hour = time.toTimeString().slice(0, pattern === "seconds" ? 8 : 5);
  return { date: `${day} ${hour}`, year: `${day} ${time.getFullYear()} ${hour}` }[pattern] ?? hour;
}
function showAges(page = document) {
  for (const time of all("time.ago", page)) setText(time, age(Date.parse(time.dateTime), time.classList[1] ?? "ago"));
  setText(find(".now", page), clock(Date.now() + offset, "time"));
}
// Moves the marks of the time axis, which are at round times in UTC, to round times of the reader.
function moveMarks(page) {
  const { from, to, step } = find(".ticks", page)?.dataset ?? {};
  const shift = (time) => (((new Date(time).getTimezoneOffset() * 60000) % step) + Number(step)) % step;
  const texts = all(".ticks text", page);
  const moved = texts.map(({ dataset }) => Number(dataset.ms) + shift(Number(dataset.ms)));
  const times = moved.filter((time) => time >= from && time <= to).sort((one, other) => one - other);
  const gap = /date|year/.test(texts[0]?.dataset.pattern) ? Math.max(1, times.length - 1) : 2;
  for (const [index, line] of all(".mark", page).entries()) {
    const [text, time] = [texts[index], times[index] ?? Number(from)];
    const x = `${(100 * (time - from)) / (to - from)}%`;
    set(text, { x, class: index % gap ? "clock odd" : "clock", "data-ms": time });
    set(line, { x1: x, x2: x });
    for (const mark of [text, line]) mark.toggleAttribute("hidden", index >= times.length);
  }
}
function showTimes(page = document) {
  moveMarks(page);
  for (const time of all(".clock", page)) setText(time, clock(Number(time.dataset.ms), time.dataset.pattern));
  for (const zone of all(".zone", page)) setText(zone, Intl.DateTimeFormat().resolvedOptions().timeZone);
  find("#area", page)?.setAttribute("tabindex", "0");
  showAges(page);
}

// MARK: Applying what the server has rendered
// Makes `one` equal `other` while keeping its elements, so that focus, open details and flashes persist.
function morph(one, other) {
  if (one.isEqualNode(other) || one.id === "search" || one.className === "tip") return;
  if (one.nodeName !== other.nodeName) return void one.replaceWith(document.importNode(other, true));
  if (one.nodeType !== Node.ELEMENT_NODE) return void (one.data = other.data);
  if (one.dataset.city && one.dataset.category !== other.dataset.category) flash(one);
  const isGone = (name) => !other.hasAttribute(name) && name !== "data-flash" && name !== "open";
  for (const name of one.getAttributeNames().filter(isGone)) one.removeAttribute(name);
  for (const { name, value } of other.attributes) if (one.getAttribute(name) !== value) one.setAttribute(name, value);
  const key = (node) => node?.dataset?.city;
  const cities = new Map(all(":scope > [data-city]", one).map((city) => [key(city), city]));
  let place = one.firstChild;
  for (const child of [...other.childNodes]) {
    const known = key(child) === undefined && key(place) === undefined ? place : cities.get(key(child));
    if (known && known === place) place = place.nextSibling;
    else one.insertBefore(known ?? document.importNode(child, true), place);
    if (known) morph(known, child);
  }
  while (one.childNodes.length > other.childNodes.length) one.lastChild.remove();
}
// The style sheet highlights the city and flips its face.
function flash(city) {
  if (Date.now() - city.flashedAt < 60000) return; // An index on a boundary would flash all the time.
  city.flashedAt = Date.now();
  city.setAttribute("data-flash", "");
  setTimeout(() => city.removeAttribute("data-flash"), 4000);
}

let [takenAt, failures, isBusy, isDue, timer] = [Date.now(), 0, false, false, 0];
// Fetches the page; once more afterwards if called meanwhile.
async function refresh() {
  clearTimeout(timer);
  isDue = isBusy;
  if (isBusy) return;
  isBusy = true;
  try {
    const address = location.href;
    const response = await fetch(address, { signal: AbortSignal.timeout(10000), headers: { Accept: "text/html" } });
    const text = await response.text();
    const page = new DOMParser().parseFromString(text, "text/html");
    const isOurs = "now" in page.body.dataset; // Else it asks for a password, for example.
    // 400: the text being typed is not a valid search yet.
    if (response.status === 404 && isOurs) announce("This city has no readings any more.", failures && "slow", "Connected");
    else if (response.ok ? !isOurs : response.status !== 400) throw new Error(text);
    if (response.ok && address === location.href) take(page);
    failures = 0;
  } catch (error) {
    // Other pages may use all of the browser's connections. A fetch also fails when the page is left.
    if (error.name === "TimeoutError") disconnect();
    if (failures++) announce(`Live data interrupted since ${clock(takenAt + offset, "date")}.`, "stale", "Interrupted");
  }
  isBusy = false;
  if (isDue) refresh();
  else if (!document.hidden) timer = setTimeout(refresh, "live" in document.body.dataset ? 10000 : 2000);
}
function take(page) {
  if (!find("link", page).isEqualNode(find("link"))) return location.reload(); // The program or its scale is another.
  takenAt = Date.now();
  offset = Number(page.body.dataset.now) - takenAt;
  document.title = page.title;
  showTimes(page);
  const focused = document.activeElement;
  for (const part of [".top", ".banner", "main", "footer"]) morph(find(part), find(part, page));
  if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
  if (at) showPoint(nearest((row) => Math.abs(time(row) - at)));
}
function announce(text, state, feed) {
  find(".banner").hidden = false;
  setText(find(".banner"), text);
  if (state) find(".feed").className = `feed ${state}`;
  if (state) setText(find(".feed > :last-child"), feed);
}

// MARK: Live changes
let stream = null;
function disconnect() {
  stream?.close();
  stream = null;
  delete document.body.dataset.live;
}
// A hidden page keeps no stream, because browsers allow only six connections per host.
function follow() {
  if (document.hidden) return disconnect();
  if (stream) return;
  stream = new EventSource(document.body.dataset.events);
  stream.addEventListener("change", refresh);
  stream.addEventListener("open", () => { document.body.dataset.live = ""; refresh(); });
  stream.addEventListener("error", (event) => {
    delete document.body.dataset.live;
    if (event.target.readyState === EventSource.CLOSED) disconnect();
    refresh();
  });
  clearTimeout(timer);
  timer = setTimeout(refresh, 2000); // In case the stream neither opens nor fails.
}
addEventListener("pagehide", disconnect);
for (const name of ["pageshow", "visibilitychange"]) addEventListener(name, follow);
setInterval(follow, 60000); // Also retries after a rejected stream.
setInterval(() => showAges(), 1000);
// A wall shows its pages in turn.
const turn = ({ dataset }) => [history.replaceState(null, "", dataset.turn), refresh()];
setInterval(() => document.hidden || all("[data-turn]").forEach(turn), 15000);
document.addEventListener("input", (event) => {
  if (event.target.id !== "search") return;
  history.replaceState(null, "", `?${new URLSearchParams(new FormData(event.target.form))}`);
  refresh();
});
document.addEventListener("submit", (event) => {
  if (!event.target.matches(".retry")) return;
  event.preventDefault();
  // Not `action`: it has the password of the address, which `fetch` rejects.
  fetch(new URL(event.target.getAttribute("action"), location), { method: "POST" }).finally(refresh);
});

// MARK: Chart: the point at the pointer or chosen by key, as in the table below it
let at = null;
const rows = () => all("#points tbody tr").reverse();
const time = (row) => Number(find(".clock", row).dataset.ms);
const nearest = (gap) => rows().reduce((best, row) => (gap(row) < gap(best) ? row : best), rows()[0]);
function showPoint(row) {
  at = row ? time(row) : null;
  const tip = find(".tip");
  tip.hidden = !row;
  find("#area").classList.toggle("pointed", Boolean(row));
  if (!row) return;
  const { x, y } = row.dataset;
  set(find(".cursor"), { x1: x, x2: x });
  set(find(".at"), { cx: x, cy: y });
  setText(tip, [...row.cells].map((cell) => cell.textContent).join(" "));
  Object.assign(tip.style, { left: x, translate: `-${x}` });
}
function point(event) {
  const area = event.target.closest?.("#area");
  if (!area && at && document.activeElement.id !== "area") showPoint();
  if (!area || !rows().length) return;
  const { left, width } = area.getBoundingClientRect();
  showPoint(nearest((row) => Math.abs(parseFloat(row.dataset.x) - 100 * (event.clientX - left) / width)));
}
document.addEventListener("focusout", (event) => { if (event.target.id === "area") showPoint(); });
for (const name of ["pointermove", "pointerdown"]) document.addEventListener(name, point);
document.addEventListener("keydown", (event) => {
  if (event.target.id !== "area" || event.altKey || event.ctrlKey || event.metaKey) return;
  const [last, place] = [rows().length - 1, rows().findIndex((row) => time(row) === at)];
  const steps = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: last, Escape: NaN };
  if (steps[event.key] === undefined) return;
  event.preventDefault();
  showPoint(rows()[Math.min(Math.max(steps[event.key], 0), last)]);
});
showTimes();
