package robots

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/temoto/robotstxt"

	"recrawl/internal/urlkey"
)

// temoto/robotstxt reads the records that are no rules, from texts that hold only
// these. Given a whole file, it refuses all of it for one bad Crawl-delay,
// overflows with a large one, reads the last of several, and makes a regular
// expression of every pattern. Hence the parser chooses the lines, and writes each
// so that temoto reads it without fault: one key, one value without white space,
// within its bounds.

// maxSitemaps bounds the list that is kept and stored.
const maxSitemaps = 1000

// maxDelay stands for all the delays that only mean "stay away".
const maxDelay = 365 * 24 * time.Hour

// sitemap records a line whose value is an http or https URL, or a path.
func (p *parser) sitemap(value string, _ int) {
	if p.named >= maxSitemaps {
		return
	}
	if u, err := urlkey.Canonical(value); err == nil {
		p.named++
		p.sitemaps.WriteString("Sitemap: " + u.String() + "\n")
	} else if isSitemapPath(value) {
		p.named++
		p.file.paths = append(p.file.paths, value)
	}
}

// isSitemapPath reports whether a value may be the path of a sitemap: from the root, or with the
// name of such a file.
func isSitemapPath(value string) bool {
	if strings.HasPrefix(value, "/") {
		return len(value) <= urlkey.MaxLength
	}
	if len(value) > urlkey.MaxLength || strings.ContainsAny(value, ": \t") {
		return false
	}
	name := strings.TrimSuffix(strings.ToLower(value), ".gz")
	return strings.HasSuffix(name, ".xml") || strings.HasSuffix(name, ".txt")
}

// readSitemaps reads lines that the parser recorded.
func readSitemaps(lines string) []string { return read(lines).Sitemaps }

// delay is a Crawl-delay line that counts.
type delay struct {
	seconds float64
	value   string // as written, or maxDelay
}

// crawlDelay records a number of seconds, which may have a fraction. It belongs to
// the current group; of several the longest counts.
func (p *parser) crawlDelay(value string, _ int) {
	seconds, err := strconv.ParseFloat(value, 64)
	written := err == nil && seconds < maxDelay.Seconds()
	if err != nil {
		seconds = looseDelay(value)
	}
	if p.current == nil || math.IsNaN(seconds) || seconds <= p.current.delay.seconds {
		return
	}
	if !written {
		seconds = min(seconds, maxDelay.Seconds())
		value = strconv.FormatFloat(seconds, 'f', -1, 64)
	}
	p.current.delay = delay{seconds, value}
}

// writtenDelay matches a number that has its unit, a decimal comma or anything else behind it.
var writtenDelay = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]{1,12})(?:[.,]([0-9]{1,12}))?[ \t]*([A-Za-z]*)`)
})

// looseDelay reads a delay that is more than a number of seconds: "10s", "1,5", "2 minutes",
// "5-10". The site asks for something, so it is not as if it had not. 0 is no delay.
func looseDelay(value string) float64 {
	part := writtenDelay().FindStringSubmatch(value)
	if part == nil {
		return 0
	}
	number, err := strconv.ParseFloat(part[1]+"."+part[2], 64)
	if err != nil {
		return 0
	}
	switch unit := strings.ToLower(part[3]); {
	case unit == "ms", strings.HasPrefix(unit, "milli"):
		return number / 1000
	case unit == "m", strings.HasPrefix(unit, "min"):
		return number * 60
	case unit == "h", strings.HasPrefix(unit, "hour"):
		return number * 3600
	case unit == "d", strings.HasPrefix(unit, "day"):
		return number * 24 * 3600
	}
	return number
}

// read reads the line that counts.
func (d delay) read() time.Duration {
	if d.value == "" {
		return 0
	}
	return read("User-agent: *\nCrawl-delay: " + d.value + "\n").FindGroup("*").CrawlDelay
}

// read gives temoto lines that it cannot refuse.
func read(lines string) *robotstxt.RobotsData {
	data, err := robotstxt.FromString(lines)
	if err != nil {
		return &robotstxt.RobotsData{}
	}
	return data
}
