// Package maintain is what a crawl's maintenance works out over all of its pages: each
// subject streams what it needs out of the store, has pure packages decide, writes back
// what the store is to know, and returns the rest, with reasons, for its caller to carry
// out. Each declares the part of a store that it needs.
package maintain
