// Package feed holds the words of the change feed: the kinds of changes, the contents of
// the feed's rows, the cursor of its followers, and the decision whether a visit is a
// change.
//
// A row says that something happened to a page, a crawl, a host or a sink. It holds ids and
// numbers, and never a URL, a title or text: readers join the page and its versions, so that
// a takedown has nothing to rewrite in the feed.
package feed
