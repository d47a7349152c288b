// Package web is the page for operators, and the HTTP API at the same addresses: crawls,
// their pages, lists, and what needs somebody, with a button for it.
//
// Everything shown is an answer of package report, as HTML for people and, at the same
// address with .json or by Accept, as the object that `--output json` prints. Each button
// is a command of the starter. Nothing of a crawled page is run, framed or loaded: its text
// is escaped, its bytes are served as plain text or as a download, and a strict
// Content-Security-Policy backs both.
//
// A page works without JavaScript. With it, assets/live.js hears when a crawl has changed,
// fetches the page again, and takes over its parts that are marked data-fresh="NAME", each
// name once a page. New items in lists of <li id> light up.
package web
