// Command colly crawls a site with colly, for `make bench-peers`. It is a module of its
// own, so that recrawl does not depend on colly.
package main

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/gocolly/colly/v2"
)

func main() {
	delay := flag.Duration("delay", 0, "the gap between two requests to a host")
	out := flag.String("out", "", "the folder in which bodies are kept")
	flag.Parse()
	if err := crawl(*delay, *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "colly:", err)
		os.Exit(1)
	}
}

// crawl follows all links on the seeds' hosts, with one request at a time for each, and
// keeps what it gets.
func crawl(delay time.Duration, out string, seeds []string) error {
	c := colly.NewCollector(colly.Async(true), colly.UserAgent("recrawl-bench/1.0"))
	c.IgnoreRobotsTxt = false
	known := map[string]bool{}
	for _, seed := range seeds {
		u, err := url.Parse(seed)
		if err != nil {
			return err
		}
		if known[u.Host] {
			continue
		}
		known[u.Host] = true
		c.AllowedDomains = append(c.AllowedDomains, u.Hostname())
		if err := c.Limit(&colly.LimitRule{DomainGlob: u.Host, Parallelism: 1, Delay: delay}); err != nil {
			return err
		}
	}
	var saved atomic.Int64
	var failed atomic.Pointer[error]
	c.OnResponse(func(r *colly.Response) {
		if err := r.Save(filepath.Join(out, fmt.Sprintf("%d.html", saved.Add(1)))); err != nil {
			failed.Store(&err)
		}
	})
	c.OnHTML("a[href]", func(e *colly.HTMLElement) {
		_ = e.Request.Visit(e.Attr("href")) // an error is a page that was visited, or another host's
	})
	for _, seed := range seeds {
		_ = c.Visit(seed)
	}
	c.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}
