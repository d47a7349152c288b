// Package monitor is what a worker says of itself to those who watch it: metrics for
// Prometheus, and whether it lives and works. It listens where RECRAWL_METRICS says.
//
// Metrics come from three places. What this process does is counted where it happens: the
// store, the archive and the fetcher are wrapped (Stores, Archive, Fetcher). What the engine's
// library measures comes through Engine. What is true of a crawl, whoever works on it, is read
// from the store when somebody asks (Crawls), at most every SampleEvery.
//
// No label holds a URL or a host: there are as many of those as the web has.
package monitor
