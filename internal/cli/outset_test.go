package cli

import (
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
)

func TestPaceWords(t *testing.T) {
	t.Parallel()
	const again = ". A page is visited again after 1d, and then as often as it changes; --default-interval changes that."
	fast := crawl.DefaultSpec()
	fast.Politeness.Delay, fast.Politeness.MaxCrawlDelay = 0, crawl.Duration(time.Minute)
	auto := crawl.DefaultSpec()
	if err := auto.Politeness.SetDelay("auto"); err != nil {
		t.Fatal(err)
	}
	one, two := []string{"a.test"}, []string{"a.test", "b.test"}
	for want, p := range map[string]pace{
		"a.test gets a request every 10s at most: 1000 pages take about 2h 46m there; --delay changes that. If robots.txt, which is not read yet, asks for more, that counts" + again: {
			spec: crawl.DefaultSpec(), hosts: one,
		},
		"each of 2 hosts gets a request every 10s at most: 1000 pages take about 2h 46m there; --delay changes that" + again: {
			spec: crawl.DefaultSpec(), hosts: two, known: true, asked: map[string]time.Duration{"a.test": 3 * time.Second},
		},
		"b.test gets a request every 30s at most, for its robots.txt asks for 30s: 1000 pages take about 8h 20m there; --delay cannot make that less" + again: {
			spec: crawl.DefaultSpec(), hosts: two, known: true, asked: map[string]time.Duration{"b.test": 30 * time.Second},
		},
		"a.test gets a request every 1m at most, for its robots.txt asks for 1d: 1000 pages take about 16h 40m there; --delay cannot make that less" + again: {
			spec: fast, hosts: one, known: true, asked: map[string]time.Duration{"a.test": 24 * time.Hour},
		},
		"a.test gets a request every 0s at most; --delay changes that" + again: {spec: fast, hosts: one, known: true},
		"a.test gets a request every 1s to 10s, by how it answers: 1000 pages take about 16m 40s to 2h 46m there; --delay changes that" + again: {
			spec: auto, hosts: one, known: true,
		},
		"each of 2 hosts gets a request every 3s to 10s, by how it answers: 1000 pages take about 50m to 2h 46m there; --delay changes that" + again: {
			spec: auto, hosts: two, known: true, asked: map[string]time.Duration{"a.test": 3 * time.Second, "b.test": 4 * time.Second},
		},
		"a.test gets a request every 30s at most, for its robots.txt asks for 30s: 1000 pages take about 8h 20m there; --delay cannot make that less" + again: {
			spec: auto, hosts: one, known: true, asked: map[string]time.Duration{"a.test": 30 * time.Second},
		},
		"b.test gets a request every 20s at most, for its robots.txt asks for 20s: 1000 pages take about 5h 33m there; --delay cannot make that less" + again: {
			spec: auto, hosts: two, known: true, asked: map[string]time.Duration{"a.test": 3 * time.Second, "b.test": 20 * time.Second},
		},
		"a.test gets a request every 10s at most: 1000 pages take about 2h 46m there; --delay changes that" + again: {
			spec: auto, hosts: one, known: true, asked: map[string]time.Duration{"a.test": 10 * time.Second},
		},
	} {
		if got := p.words(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The effect of the settings is explained before a crawl starts, once, and not for a crawl
// that runs or for the demo.
func TestDevSaysWhatToExpect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args    string
		running []string
		want    bool
	}{
		{"dev http://127.0.0.1/ --name news2", nil, true},
		{"dev http://127.0.0.1/ --name news2", []string{"news2"}, false},
		{"dev --demo", nil, false},
	} {
		got := starter(t, &fakeBackend{running: c.running}, strings.Fields(c.args)...)
		first, _, _ := strings.Cut(got.out, "\n")
		if said := strings.HasPrefix(first, "127.0.0.1 gets a request every 10s at most"); got.code != ExitOK || said != c.want || strings.Count(got.out, "at most: 1000") > 1 {
			t.Errorf("%s while %v run: %+v", c.args, c.running, got)
		}
	}
}
