package activities

import (
	"sync"

	"recrawl/internal/robots"
)

// robotsCache keeps parsed robots.txt files of recent origins.
type robotsCache struct {
	mu    sync.Mutex
	files map[string]parsedRobots
	bytes int // of the texts of files
}

type parsedRobots struct {
	digest string
	file   *robots.File
}

// maxParsedRobots and maxParsedBytes bound the cache, in files and in bytes of
// their texts; parsed, a hostile text takes up to twenty times its size. Parsing
// again costs well under a millisecond (a hostile text: tens), so dropping
// everything at a bound is fine.
const (
	maxParsedRobots = 2000
	maxParsedBytes  = 16 << 20
)

func (c *robotsCache) get(origin, digest string) *robots.File {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.files[origin]; ok && p.digest == digest {
		return p.file
	}
	return nil
}

func (c *robotsCache) put(origin, digest string, bytes int, f *robots.File) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += bytes // a file that replaces another counts beside it
	if c.files == nil || len(c.files) >= maxParsedRobots || c.bytes > maxParsedBytes {
		c.files, c.bytes = map[string]parsedRobots{}, bytes
	}
	c.files[origin] = parsedRobots{digest, f}
}
