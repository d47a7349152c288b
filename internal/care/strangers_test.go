package care

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recrawl/internal/keyring"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// knownWorkers is a store that only knows workers.
type knownWorkers struct {
	store.Workers
	names []string
}

func (k *knownWorkers) KnownWorkers(context.Context) ([]string, error) { return k.names, nil }

// A poller that does not belong to the store is named; one that has just ended, or just
// begun, is not.
func TestStrangers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		known := &knownWorkers{names: []string{"1@a"}}
		var polling, held []temporalkit.Poller
		s := &strangers{store: known, own: "ours", polls: func(context.Context) ([]temporalkit.Poller, []temporalkit.Poller, error) { return polling, held, nil }}
		look := func(what string, want ...string) {
			t.Helper()
			got, err := s.look(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range want {
				if !strings.Contains(got, w) {
					t.Errorf("%s: %q, want %q", what, got, w)
				}
			}
			if len(want) == 0 && got != "" {
				t.Errorf("%s: %q, want nobody", what, got)
			}
			time.Sleep(20 * time.Second)
		}
		at := func(ago time.Duration, names ...string) (all []temporalkit.Poller) {
			for _, n := range names {
				name, of, _ := strings.Cut(n, " ")
				all = append(all, temporalkit.Poller{Name: name, Store: of, At: time.Now().Add(-ago)})
			}
			return all
		}
		polling = at(0, "1@a", "2@gone")
		look("one is the store's, and one has just ended")
		look("which does not poll again")
		polling = at(0, "1@a", "3@copy")
		look("somebody came who may be about to say so in the store")
		polling = at(0, "1@a", "3@copy")
		look("and has not", "worker 3@copy is not of this store")
		known.names = append(known.names, "3@copy")
		look("it has")
		held = at(0, "4@held ours", "5@held theirs")
		look("one waits with another store", "worker 5@held has another store, theirs, and waits")
		known.names = []string{"1@a"}
		held = at(0, "5@held theirs", "6@held theirs", "7@held theirs", "8@held theirs")
		look("many wait", "5@held", "6@held", "7@held", "; and 1 more")
		time.Sleep(strangerSeen)
		look("they have gone")
		polling = at(4*time.Minute, "9@early")
		look("somebody ended before this worker began")
	})
}

// A crawl that the workers cannot read is named, with the way to end it.
func TestUnreadableCrawl(t *testing.T) {
	t.Parallel()
	s := &strangers{
		store: &knownWorkers{},
		polls: func(context.Context) (polling, held []temporalkit.Poller, err error) { return nil, nil, nil },
		crawls: func(context.Context) ([]temporalkit.OpenCrawl, error) {
			return []temporalkit.OpenCrawl{{Name: "news"}, {Name: "other", Locked: &keyring.LockedError{Key: "k3", Unknown: true}}}, nil
		},
	}
	words, err := s.look(t.Context())
	if err != nil || strings.Contains(words, "news") || !strings.Contains(words, `"k3"`) || !strings.Contains(words, "`starter stop other`") {
		t.Errorf("%q, %v", words, err)
	}
}
