// Registers the player, has it open the archive, and shows the page that the fragment names.
"use strict";

const id = document.body.dataset.archive;
const byId = (name) => document.getElementById(name);
const frame = byId("frame");

// added asks the player to open the archive, and waits until it has.
function added(player) {
  return new Promise((resolve, reject) => {
    navigator.serviceWorker.addEventListener("message", ({ data }) => {
      if (data.name !== id) {
        return;
      }
      if (data.msg_type === "collAdded") {
        resolve();
      } else if (data.msg_type === "collProgress" && data.error) {
        reject(new Error(data.error));
      }
    });
    const sourceUrl = `${location.origin}/archive/${id}.wacz`;
    player.postMessage({ msg_type: "addColl", name: id, skipExisting: true, file: { sourceUrl, loadUrl: sourceUrl } });
  });
}

// dropOthers has the browser forget archives that were open at this address before.
async function dropOthers() {
  const { colls = [] } = await (await fetch("/w/api/coll-index")).json();
  for (const other of colls) {
    if (other.id && other.id !== id) {
      await fetch(`/w/api/c/${other.id}`, { method: "DELETE" });
    }
  }
}

// controlled waits until the player answers for this page.
function controlled() {
  return navigator.serviceWorker.controller
    ? Promise.resolve()
    : new Promise((resolve) => navigator.serviceWorker.addEventListener("controllerchange", resolve, { once: true }));
}

async function prepare() {
  if (!navigator.serviceWorker) {
    throw new Error("this browser runs the player on localhost only, and not in a private window");
  }
  await navigator.serviceWorker.register("/sw.js", { scope: "/" });
  const registration = await navigator.serviceWorker.ready;
  await controlled();
  await added(registration.active);
  await dropOthers();
}

// show shows the page that the fragment names, or the list.
function show() {
  const named = new URLSearchParams(location.hash.slice(1));
  const address = named.get("url") || "";
  const stamp = (named.get("ts") || "").replace(/\D/g, "");
  const isPage = /^https?:\/\//.test(address);
  byId("bar").hidden = frame.hidden = !isPage;
  byId("list").hidden = isPage;
  if (!isPage) {
    frame.removeAttribute("src");
    return;
  }
  tell(address, stamp);
  frame.contentWindow.location.replace(`/w/${id}/${stamp}mp_/${address}`);
}

function tell(address, stamp) {
  byId("address").textContent = address;
  byId("stamp").textContent = stamp.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d).*/, "$1-$2-$3 $4:$5");
}

// The archived page says where a link has led.
window.addEventListener("message", ({ source, data }) => {
  if (source === frame.contentWindow && data && (data.wb_type === "load" || data.wb_type === "replace-url") && typeof data.url === "string") {
    tell(data.url, String(data.ts || ""));
  }
});

prepare().then(
  () => {
    byId("state").textContent = "Ready: choose a page.";
    window.addEventListener("hashchange", show);
    show();
  },
  (error) => {
    byId("state").textContent = `The player did not start: ${error.message}`;
  },
);
