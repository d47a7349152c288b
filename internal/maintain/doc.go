// Package maintain works out what concerns all pages of a crawl: ranks, budgets, traps,
// hints, a changed scope, the exchange of pages, and the order in which pages and whole
// crawls are removed. Each subject declares the part of a store that it uses, streams from
// it, lets pure packages decide, and writes the results back. News for workflows is
// returned, with reasons, or passed to a function of the caller's where the order counts.
package maintain
