// Package crawl holds the nouns that every part of recrawl shares: the crawl
// spec, pages and their states, visits and their outcomes, versions, permits
// and error codes. It imports the standard library only and does no I/O.
package crawl
