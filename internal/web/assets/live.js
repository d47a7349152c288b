// Keeps an open page up to date. The server says when the crawl has changed; the page then
// fetches itself and takes over the parts marked data-fresh. Without this script, or without
// the connection, nothing is missing but that.
"use strict";

(() => {
  const stream = document.body.dataset.live;
  if (!stream || !window.EventSource || !document.querySelector("[data-fresh]")) return;
  const told = document.getElementById("live");
  let seen = "", asking = false, again = false;

  const say = (text, away) => {
    if (told.textContent !== text) told.textContent = text;
    told.classList.toggle("away", away);
  };

  // What somebody is using is left alone: an open menu, a half-written field.
  const used = (part) => part.contains(document.activeElement) && document.activeElement.matches("input, select, textarea")
    || part.querySelector("details.menu[open]") !== null;

  const takeOver = (page) => {
    for (const fresh of page.querySelectorAll("[data-fresh]")) {
      const part = document.querySelector(`[data-fresh="${fresh.dataset.fresh}"]`);
      if (!part || part.innerHTML === fresh.innerHTML || used(part)) continue;
      const known = new Set([...part.querySelectorAll("li[id]")].map((e) => e.id));
      const open = [...part.querySelectorAll("li[id] > details[open]")].map((e) => e.parentElement.id);
      const focused = part.contains(document.activeElement) && document.activeElement.getAttribute("href");
      part.replaceChildren(...fresh.childNodes);
      for (const id of open) document.getElementById(id)?.querySelector("details")?.setAttribute("open", "");
      if (known.size) for (const e of part.querySelectorAll("li[id]")) if (!known.has(e.id)) e.classList.add("fresh");
      if (focused) part.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus();
    }
  };

  const refresh = async () => {
    if (asking) { again = true; return; }
    asking = true;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (answer.ok) takeOver(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch {
      // The stream notices too, and comes back.
    }
    asking = false;
    if (again) { again = false; refresh(); }
  };

  let source = null;
  const follow = () => {
    source = new EventSource(stream);
    source.addEventListener("mark", (e) => {
      say("live", false);
      const first = seen === "";
      if (e.data === seen) return;
      seen = e.data;
      if (!first) refresh();
    });
    source.onerror = () => say("not connected", true);
  };

  // A page that nobody sees asks for nothing.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { source?.close(); source = null; return; }
    if (!source) { follow(); refresh(); }
  });
  if (!document.hidden) follow();
})();
