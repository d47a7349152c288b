// Package maintain works out what the pages of a crawl come to together: ranks, budgets,
// traps, hints, a changed scope, the exchange of pages, and in which order pages and whole
// crawls are removed. Each subject declares the part of a store that it needs, streams
// from it, has pure packages decide, and writes back what the store is to know. What
// workflows are to hear of it is returned, with reasons, or handed to a function that the
// caller gives, where the order counts.
package maintain
