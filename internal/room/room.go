// Package room decides whether a worker may make requests, by the room that its disks
// have left to keep the results.
package room

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"recrawl/internal/crawl"
)

const (
	// measureEvery is how long a measurement of a disk is trusted.
	measureEvery = time.Second
	// reserveFiles is the reserve in files: an archive has one for each content.
	reserveFiles = 1000
	// When a full disk cannot be measured (a bucket, a database), one page at a time
	// is tried, after firstPause at first, and twice as long with each try that fails.
	firstPause = 30 * time.Second
	lastPause  = 10 * time.Minute
	// tryLimit is how long a try may take before another one is made.
	tryLimit = 2 * time.Minute
)

// Space is the free space of a disk.
type Space struct {
	Bytes int64
	Files int64 // files that may be created; negative if there is no such limit
	// Disk identifies a disk; 0 is unknown.
	Disk uint64
}

// Options are the settings of a Keeper.
type Options struct {
	// Folders lie on the disks that must have room.
	Folders []string
	// Reserve is how many bytes must be left on each; 0 or less turns the check off.
	Reserve int64
	// Measure measures the disk of a folder; nil is Measure.
	Measure func(folder string) (Space, error)
}

// Shortage says why no request may be made.
type Shortage struct {
	Reason string    // in words
	Since  time.Time // of the shortage
}

// Keeper says whether there is room. Any number of goroutines may use it.
type Keeper struct {
	folders []string
	reserve int64
	measure func(string) (Space, error)

	mu       sync.Mutex
	measured time.Time
	low      string // why the disks do not suffice; "" if they do
	since    time.Time
	full     refusal
}

// refusal is a disk that was full when somebody wrote to it.
type refusal struct {
	reason string // "" for none
	until  time.Time
	pause  time.Duration
	trying time.Time // a try is under way since then; zero for none
}

// New returns a keeper. It measures when it is asked.
func New(o Options) *Keeper {
	k := &Keeper{folders: o.Folders, reserve: o.Reserve, measure: o.Measure}
	if k.measure == nil {
		k.measure = Measure
	}
	return k
}

// Shortage says whether there is one, so that no request may be asked for, and why.
func (k *Keeper) Shortage() (Shortage, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.shortage(time.Now())
}

// Trouble is Shortage for people: it lasts until the shortage is known to be over, and
// does not end for a try.
func (k *Keeper) Trouble() (Shortage, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	shortage, is := k.shortage(time.Now())
	if !is && k.full.reason != "" {
		return Shortage{Reason: k.full.reason, Since: k.since}, true
	}
	return shortage, is
}

// Begin is Shortage for a request that begins at once: if a full disk cannot be
// measured, it lets one through to try.
func (k *Keeper) Begin() (Shortage, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	shortage, is := k.shortage(now)
	if !is && k.full.reason != "" {
		k.full.trying = now
	}
	return shortage, is
}

// Full reports, in words, that a disk was full when somebody wrote to it.
func (k *Keeper) Full(reason string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	k.measured = time.Time{} // look again
	if k.full.reason != "" && now.Before(k.full.until) {
		return // of the same time
	}
	k.full.pause = min(max(2*k.full.pause, firstPause), lastPause)
	k.full.reason, k.full.until, k.full.trying = reason, now.Add(k.full.pause), time.Time{}
	k.begin(now)
}

// Kept reports that all results of a request were kept.
func (k *Keeper) Kept() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.full.trying.IsZero() {
		k.full = refusal{}
	}
}

// Spared reports that a request brought nothing to keep, or was not made: as a try it has shown
// nothing, and the next one may try.
func (k *Keeper) Spared() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.full.trying = time.Time{}
}

func (k *Keeper) shortage(now time.Time) (Shortage, bool) {
	if k.measured.IsZero() || now.Sub(k.measured) >= measureEvery {
		k.look(now)
	}
	reason := k.low
	if reason == "" && k.full.reason != "" && (now.Before(k.full.until) || !k.full.trying.IsZero() && now.Sub(k.full.trying) < tryLimit) {
		reason = k.full.reason
	}
	if reason == "" {
		if k.full.reason == "" {
			k.since = time.Time{}
		}
		return Shortage{}, false
	}
	k.begin(now)
	return Shortage{Reason: reason, Since: k.since}, true
}

func (k *Keeper) begin(now time.Time) {
	if k.since.IsZero() {
		k.since = now
	}
}

// look measures the disks. One that has recovered must have an eighth more than the
// reserve, so that a worker does not begin and end shortages with each page. A disk
// that was full and can be measured needs no try: there is room, or there is not.
func (k *Keeper) look(now time.Time) {
	reserve := k.reserve
	if k.low != "" {
		reserve += reserve / 8
	}
	k.measured, k.low = now, Short(k.folders, reserve, k.measure)
	if k.low != "" {
		k.low += "; " + size(reserve) + " are needed"
	}
	if k.low != "" && k.full.reason != "" {
		k.full = refusal{}
	}
}

// Least is the space left on a disk that cannot even take a note any more.
const Least = 4 << 20

// Short names the folders' disks that have less left than a reserve, in words; "" if
// none has, or none can be measured.
func Short(folders []string, reserve int64, measure func(string) (Space, error)) string {
	if reserve <= 0 {
		return ""
	}
	var short []string
	seen := map[uint64]bool{}
	for _, folder := range folders {
		space, err := measure(folder)
		if err != nil || space.Disk != 0 && seen[space.Disk] {
			continue // a failed write there is reported anyway; or it has been reported
		}
		seen[space.Disk] = true
		switch {
		case space.Bytes < reserve:
			short = append(short, fmt.Sprintf("%s left on the disk of %s", size(space.Bytes), folder))
		case space.Files >= 0 && space.Files < reserveFiles:
			short = append(short, fmt.Sprintf("room for %d more files on the disk of %s", space.Files, folder))
		}
	}
	if len(short) == 0 {
		return ""
	}
	return "no room: " + strings.Join(short, "; ")
}

// size rounds down to a readable number.
func size(bytes int64) string {
	for _, unit := range []int64{1 << 30, 1 << 20, 1 << 10} {
		if bytes >= unit {
			return crawl.Size(bytes / unit * unit).String()
		}
	}
	return crawl.Size(bytes).String()
}
