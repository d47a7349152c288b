// Package workflows holds what lasts for months: the life of a page, the discovery of new
// pages and the care of a crawl. It decides and waits. All I/O is in activities, which it
// knows only by contract.
//
// Every workflow here has the same shape. Its whole state is one serialisable struct of
// package contract. Pure functions of that state and the time say what comes next
// (pageNext, crawlNext), and a loop does it, one step at a time. The state is complete
// between two steps, so the run may continue as new at any such point.
package workflows
