// The chart of a city: the point at the pointer or chosen by a key, and zooming into a part that is dragged over.
(() => {
  const { all, find, go, setText } = page;
  // The time of the point that is shown.
  let at = null;
  let dragFrom = null;
  const points = () => all("circle.point", find("#area"));
  const share = (value) => parseFloat(value) / 100;

  function prepare() {
    const area = find("#area");
    if (!area) return;
    area.setAttribute("tabindex", "0");
    // The reader's place survives a new drawing, as long as its point is shown.
    if (at !== null) {
      const point = points().find((point) => Number(point.dataset.ms) === at);
      if (point) showPoint(point);
      else hidePoint();
    }
  }

  function showPoint(point) {
    const [area, tip] = [find("#area"), find(".tip")];
    for (const other of all(".at", area)) other.classList.remove("at");
    point.classList.add("at");
    at = Number(point.dataset.ms);
    const x = share(point.getAttribute("cx"));
    const cursor = find(".cursor", area);
    cursor.setAttribute("x1", `${x * 100}%`);
    cursor.setAttribute("x2", `${x * 100}%`);
    tip.hidden = false;
    setText(tip, point.textContent.trim());
    const box = area.getBoundingClientRect();
    const left = box.left - tip.parentElement.getBoundingClientRect().left;
    const half = tip.offsetWidth / 2;
    tip.style.left = `${left + Math.min(Math.max(x * box.width, half), Math.max(half, box.width - half))}px`;
  }

  function hidePoint() {
    at = null;
    const area = find("#area");
    for (const other of all(".at", area)) other.classList.remove("at");
    find(".cursor", area).removeAttribute("x1");
    find(".cursor", area).removeAttribute("x2");
    find(".tip").hidden = true;
  }

  const shareAt = (event) => {
    const box = find("#area").getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };

  function zoom(one, other) {
    const { from, to } = find("#area").dataset;
    const time = (share) => Math.round(Number(from) + share * (Number(to) - Number(from)));
    const [start, end] = [time(Math.min(one, other)), time(Math.max(one, other))];
    const address = new URL(location.href);
    address.searchParams.set("from", Math.max(0, start));
    address.searchParams.set("to", Math.max(end, start + 1));
    go(address);
  }

  function select(one, other) {
    const selection = find("#area .selection");
    selection.setAttribute("x", `${Math.min(one, other) * 100}%`);
    selection.setAttribute("width", `${Math.abs(one - other) * 100}%`);
  }

  document.addEventListener("keydown", (event) => {
    if (event.target.id !== "area" || event.metaKey || event.ctrlKey || event.altKey) return;
    const shown = points();
    const place = shown.findIndex((point) => Number(point.dataset.ms) === at);
    const last = shown.length - 1;
    const target = {
      ArrowLeft: place < 0 ? last : Math.max(0, place - 1), ArrowRight: place < 0 ? 0 : Math.min(last, place + 1),
      Home: 0, End: last,
    }[event.key];
    const link = find({ "+": "#zoom-in", "=": "#zoom-in", "-": "#zoom-out", "0": "#zoom-all" }[event.key] ?? "#none");
    if (target !== undefined && last >= 0) showPoint(shown[target]);
    else if (link) link.click();
    else if (event.key === "Escape") {
      dragFrom = null;
      select(0, 0);
      hidePoint();
    } else return;
    event.preventDefault();
  });

  document.addEventListener("pointerdown", (event) => {
    const area = event.target.closest?.("#area");
    if (!area || event.button) return;
    dragFrom = shareAt(event);
    // Throws if the pointer no longer exists. Without capture, the drag ends where it leaves the chart.
    try { area.setPointerCapture(event.pointerId); } catch { /* no capture */ }
  });
  document.addEventListener("pointermove", (event) => {
    if (!find("#area")) return;
    if (dragFrom !== null) return select(dragFrom, shareAt(event));
    if (!event.target.closest?.("#area")) {
      if (at !== null && document.activeElement?.id !== "area") hidePoint();
      return;
    }
    const x = shareAt(event);
    const distance = (point) => Math.abs(share(point.getAttribute("cx")) - x);
    const nearest = points().reduce((best, point) => (!best || distance(point) < distance(best) ? point : best), null);
    if (nearest) showPoint(nearest);
  });
  const endDrag = (event) => {
    if (dragFrom === null) return;
    const [one, other] = [dragFrom, shareAt(event)];
    dragFrom = null;
    select(0, 0);
    if (event.type === "pointerup" && Math.abs(one - other) > 0.02) zoom(one, other);
  };
  document.addEventListener("pointerup", endDrag);
  document.addEventListener("pointercancel", endDrag);

  document.addEventListener("redrawn", prepare);
  prepare();
})();
