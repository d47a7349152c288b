// Package feed holds the words of the change feed: the kinds of changes, what a row of the
// feed says, the cursor of whoever follows it, and the decision whether a visit is a change.
//
// A row says that something happened to a page, a crawl, a host or a sink. It holds ids and
// numbers, and never a URL, a title or text: readers join the page and its versions, so that
// a takedown has nothing to rewrite in the feed.
package feed
