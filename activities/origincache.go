package activities

import (
	"sync"
	"time"

	"recrawl/internal/robots"
)

// originCache keeps the parsed files of recent origins.
type originCache[F any] struct {
	mu    sync.Mutex
	files map[string]originFile[F]
	bytes int // of the texts of files
}

type originFile[F any] struct {
	digest string
	until  time.Time
	file   F
}

// robotsFile is the file of a robots record.
type robotsFile struct {
	*robots.File
	// answered: the origin has a robots.txt, or is known to have none.
	answered bool
}

type (
	robotsCache = originCache[robotsFile]
	termsCache  = originCache[*robots.Terms]
)

// maxParsedRobots and maxParsedBytes bound a cache, in files and in bytes of
// their texts; parsed, a hostile text takes up to twenty times its size. Parsing
// again costs well under a millisecond (a hostile text: tens), so dropping
// everything at a bound is fine.
const (
	maxParsedRobots = 2000
	maxParsedBytes  = 16 << 20
)

// get returns the file of an origin if it has the digest. A parsed file is trusted until a
// time, that of the newest answer.
func (c *originCache[F]) get(origin, digest string, until time.Time) (file F, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.files[origin]
	if !ok || p.digest != digest {
		return file, false
	}
	if until.After(p.until) {
		p.until = until
		c.files[origin] = p
	}
	return p.file, true
}

// fresh returns the file of an origin, whatever its digest, as long as it is trusted.
func (c *originCache[F]) fresh(origin string, now time.Time) (file F, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.files[origin]; ok && p.until.After(now) {
		return p.file, true
	}
	return file, false
}

func (c *originCache[F]) put(origin, digest string, until time.Time, bytes int, file F) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += bytes // a file and its replacement both count
	if c.files == nil || len(c.files) >= maxParsedRobots || c.bytes > maxParsedBytes {
		c.files, c.bytes = map[string]originFile[F]{}, bytes
	}
	c.files[origin] = originFile[F]{digest, until, file}
}
