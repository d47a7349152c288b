// Package monitor reports on a worker to those who watch it: metrics for Prometheus,
// and whether it lives and works. It listens at the address in RECRAWL_METRICS.
//
// Metrics come from three places. This process's own work is counted where it happens: the
// store, the archive and the fetcher are wrapped (Stores, Archive, Fetcher). The
// measurements of the engine's library come through Engine. Facts about a crawl, whoever
// works on it, are read from the store when somebody asks (Crawls), at most every
// SampleEvery.
//
// No label holds a URL or a host: there are as many of those as the web has.
package monitor
