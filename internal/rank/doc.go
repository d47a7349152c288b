// Package rank computes how important the pages of a crawl are to each other, by
// the links between them, and the consequences: in which order known pages are
// admitted, when the ranks should be computed again, and which page gives its place
// to another when the collection is full. Every decision is a pure function of what
// is passed in and carries its reasons.
//
// Three measures come from a [Graph]:
//
//   - [Graph.Backlinks]: how many pages and hosts link to a page. Back-link count is
//     JoMaGic's measure (Acevedo, Agosto and Ortiz, "JoMaGic Web Crawler", scheduling
//     policy), after Cho, Garcia-Molina and Page, "Efficient crawling through URL
//     ordering", 1998.
//   - [Graph.Hosts]: the same for hosts.
//   - [Graph.PageRank]: Brin and Page 1998, by which Singhal, Dixit and Sharma order
//     their queues ("Design of a priority based frequency regulated incremental
//     crawler", UrlQ and SaveUpdate).
//
// [Importance] blends them into one number, 1 for an average page.
package rank
