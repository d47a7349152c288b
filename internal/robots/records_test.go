package robots

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"recrawl/internal/urlkey"
)

// FuzzRecords: temoto reads the parser's lines correctly, whatever else the file
// holds.
func FuzzRecords(f *testing.F) {
	for _, text := range []string{
		"Sitemap: http://h/a b\tc#d\nsite-map:HTTP://H:80/%zz\vx\nSitemap:\nSitemap http://h/\nSitemap: /x\nSitemap: http://ü/é\xff",
		"User-agent: recrawl\nCrawl-delay: 1e300\nCrawl-delay: +Inf\nCrawl-delay: 0x1p-2\nCrawl-delay: 1_0",
		"User-agent: recrawl\nCrawl-delay: 0.1\nUser-agent: recrawl\nCrawl delay: 0.30000000000000004\nAllow: *(",
		"Crawl-delay: 5\nUser-agent: *\nCrawl-delay: -1\nCrawl-delay: 5 6\nCrawl-delay:\nCrawl-delay: 007.e-0",
		"User-agent: recrawl\nCrawl-delay: 31536000.5\nCrawl-delay: 31535999.999999999",
		"User-agent: recrawl\nCrawl-delay: 10s\nCrawl-delay: 1,5\nCrawl-delay: 999999999999.5h\nUser-agent: recrawl\nCrawl-delay: 0,1ms",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := Parse([]byte(text))
		var sitemaps []string
		named := 0
		delays := map[int]time.Duration{} // by the number of their group
		group, closed := 0, true
		for line := range lines([]byte(Text([]byte(text)))) {
			name, value := record(string(line))
			switch name {
			case "user-agent":
				if closed {
					group, closed = group+1, false
				}
			case "rule":
				closed = true
			case "sitemap":
				switch u, err := urlkey.Canonical(value); {
				case named >= maxSitemaps:
				case err == nil:
					named++
					sitemaps = append(sitemaps, u.String())
				case isSitemapPath(value):
					named++
				}
			case "crawl-delay":
				seconds, err := strconv.ParseFloat(value, 64)
				if err != nil {
					seconds = looseDelay(value)
				}
				if !math.IsNaN(seconds) {
					delays[group] = max(delays[group], time.Duration(min(seconds, maxDelay.Seconds())*float64(time.Second)))
				}
			}
		}
		if !slices.Equal(file.Sitemaps(urlkey.URL{}), sitemaps) {
			t.Errorf("%q, want %q", file.Sitemaps(urlkey.URL{}), sitemaps)
		}
		for i, g := range file.groups {
			if got := g.delay.read(); got != delays[i+1] {
				t.Errorf("group %d has %s, want %s", i+1, got, delays[i+1])
			}
		}
	})
}

// record reads a line as parser.line does, and names its kind.
func record(line string) (name, value string) {
	line, _, _ = strings.Cut(line, "#")
	line = trim(line)
	key, value, ok := strings.Cut(line, ":")
	if words := strings.Fields(line); !ok && len(words) == 2 {
		key, value = words[0], words[1]
	} else if !ok {
		return "", ""
	}
	key = strings.ToLower(trim(key))
	switch {
	case keys[key] == nil:
		return "", ""
	case strings.HasPrefix(key, "user"):
		return "user-agent", trim(value)
	case strings.HasPrefix(key, "site"):
		return "sitemap", trim(value)
	case strings.HasPrefix(key, "crawl"):
		return "crawl-delay", trim(value)
	}
	return "rule", trim(value)
}

// TestRecordsOfAFullFile: records cost no more than other lines.
func TestRecordsOfAFullFile(t *testing.T) {
	t.Parallel()
	f := Parse([]byte(fill(func(i int) string { return fmt.Sprintf("crawl-delay:%d", i) })))
	if got := f.CrawlDelay("recrawl"); got < 20_000*time.Second {
		t.Errorf("the longest of all delays is %s", got)
	}
	f = Parse([]byte(fill(func(i int) string { return fmt.Sprintf("sitemap:http://h/%d", i) })))
	if got := f.Sitemaps(urlkey.URL{}); len(got) != maxSitemaps || got[999] != "http://h/999" {
		t.Errorf("%d sitemaps", len(got))
	}
}
