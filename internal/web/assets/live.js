// Keeps an open page up to date. The server says when the crawl has changed; the page then, or
// after a minute, fetches itself and takes over the parts marked data-fresh. Without this script, or without
// the connection, nothing is missing but that.
"use strict";

(() => {
  const stream = document.body.dataset.live;
  if (!window.EventSource || !document.querySelector("[data-fresh]")) return;
  const told = document.getElementById("live");
  let seen = "", asking = false, again = false;

  const say = (text, away) => {
    if (told.textContent !== text) told.textContent = text;
    told.classList.toggle("away", away);
  };

  // What somebody is using is left alone: an open menu, what changed in a text, a half-written
  // field, marked words, something that is being pressed.
  const used = (part) => part.querySelector("details.menu[open], li > details[open]") !== null
    || part.matches(":active")
    || part.contains(document.activeElement) && document.activeElement.matches("input, select, textarea")
    || !getSelection().isCollapsed && part.contains(getSelection().anchorNode);

  const summary = (details) => details.querySelector("summary").textContent;

  // What makes an element of a part the counterpart of one in the part that it replaces: where
  // it leads, what it does, what it opens, in which item of a list it stands.
  const key = (e) => JSON.stringify([
    e.tagName, e.getAttribute("href"), e.closest("form")?.getAttribute("action"), e.getAttribute("aria-label"),
    e.closest("[id]")?.id, e.matches("summary, button") ? e.textContent : "",
  ]);

  // The counterpart of what has the focus gets it. It is looked for before the part is replaced,
  // while the key is whole.
  const refocus = (part) => {
    const had = document.activeElement;
    if (!part.contains(had) || had === part) return () => {};
    const at = key(had), alike = () => [...part.querySelectorAll(had.tagName)].filter((e) => key(e) === at);
    const nth = alike().indexOf(had), top = had.scrollTop, left = had.scrollLeft;
    return () => {
      const to = alike()[nth];
      if (!to) return;
      to.focus({ preventScroll: true });
      to.scrollTo(left, top);
    };
  };

  const takeOver = (page) => {
    for (const fresh of page.querySelectorAll("[data-fresh]")) {
      const part = document.querySelector(`[data-fresh="${fresh.dataset.fresh}"]`);
      if (!part || part.innerHTML === fresh.innerHTML || used(part)) continue;
      const known = new Set([...part.querySelectorAll("li[id]")].map((e) => e.id));
      const open = [...part.querySelectorAll("details[open]")].map(summary);
      const focus = refocus(part);
      part.replaceChildren(...fresh.childNodes);
      for (const details of part.querySelectorAll("details")) if (open.includes(summary(details))) details.open = true;
      if (known.size) for (const e of part.querySelectorAll("li[id]")) if (!known.has(e.id)) e.classList.add("fresh");
      focus();
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

  // Times go on though nothing happens, and some pages have no stream.
  setInterval(() => { if (!document.hidden) refresh(); }, stream ? 60_000 : 15_000);

  let source = null;
  const follow = () => {
    if (!stream) return;
    const mine = source = new EventSource(stream);
    mine.addEventListener("mark", (e) => {
      say("live", false);
      const first = seen === "";
      if (e.data === seen) return;
      seen = e.data;
      if (!first) refresh();
    });
    mine.onerror = () => {
      say("not connected", true);
      // After an answer that is no stream, the browser does not try again by itself.
      if (mine.readyState === EventSource.CLOSED) setTimeout(() => { if (source === mine) follow(); }, 5_000);
    };
  };

  // What was left alone catches up.
  document.addEventListener("toggle", (e) => { if (!e.target.open) refresh(); }, true);

  // A page that nobody sees asks for nothing.
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) { source?.close(); source = null; return; }
    if (!source) follow();
    refresh();
  });
  if (!document.hidden) follow();
})();
