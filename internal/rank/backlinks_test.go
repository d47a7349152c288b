package rank

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// count counts back-links link by link.
func count(hosts map[int64]int64, links []link) map[int64]Backlinks {
	from := map[int64]map[int64]bool{}
	for _, l := range links {
		if hosts[l.src] == 0 || hosts[l.dst] == 0 || l.src == l.dst {
			continue
		}
		if from[l.dst] == nil {
			from[l.dst] = map[int64]bool{}
		}
		from[l.dst][l.src] = true
	}
	counts := map[int64]Backlinks{}
	for page, sources := range from {
		var c Backlinks
		others := map[int64]bool{}
		for src := range sources {
			c.Pages++
			if hosts[src] == hosts[page] {
				c.Inner++
			} else {
				others[hosts[src]] = true
			}
		}
		c.Hosts = int32(len(others))
		counts[page] = c
	}
	return counts
}

// countHosts counts the back-links of hosts link by link.
func countHosts(hosts map[int64]int64, links []link) map[int64]HostLinks {
	counts := map[int64]HostLinks{}
	for _, h := range hosts {
		c := counts[h]
		c.Host = h
		c.Pages++
		counts[h] = c
	}
	seen, pages, others := map[link]bool{}, map[link]bool{}, map[link]bool{}
	for _, l := range links {
		from, to := hosts[l.src], hosts[l.dst]
		if from == 0 || to == 0 || l.src == l.dst || seen[l] {
			continue
		}
		seen[l] = true
		c := counts[to]
		if from == to {
			c.Inner++
		} else {
			c.Links++
			if k := (link{l.src, to}); !pages[k] {
				pages[k] = true
				c.LinkingPages++
			}
			if k := (link{from, to}); !others[k] {
				others[k] = true
				c.LinkingHosts++
			}
		}
		counts[to] = c
	}
	return counts
}

func TestBacklinksAreCounted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hosts, links := drawWorld(t)
		g := build(t, hosts, links)
		want := count(hosts, links)
		for i, c := range g.Backlinks() {
			if c != want[g.ID(i)] {
				t.Fatalf("page %d: %+v, want %+v", g.ID(i), c, want[g.ID(i)])
			}
		}
		byHost := countHosts(hosts, links)
		counted := g.Hosts()
		for _, c := range counted {
			if c != byHost[c.Host] {
				t.Fatalf("host %d: %+v, want %+v", c.Host, c, byHost[c.Host])
			}
		}
		ones := make([]float64, g.Pages())
		for i := range ones {
			ones[i] = 1
		}
		for i, n := range g.SumByHost(ones) {
			if int(n) != counted[i].Pages {
				t.Fatalf("host %d has %v pages, or %d", counted[i].Host, n, counted[i].Pages)
			}
		}
		if len(counted) != len(byHost) {
			t.Fatalf("%d hosts, want %d", len(counted), len(byHost))
		}
	})
}

func TestLinksThatAreLeftOut(t *testing.T) {
	t.Parallel()
	g := build(t, map[int64]int64{2: 1, 4: 1}, []link{{2, 2}, {2, 4}, {2, 4}, {4, 4}, {2, 9}, {1, 2}, {3, 4}})
	if g.Links() != 1 {
		t.Errorf("%d links, want the one between two pages", g.Links())
	}
}

func TestBuilderWantsOrder(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(*Builder) error{
		"page 2 comes after page 3":                          func(b *Builder) error { return b.Page(2, 1) },
		"page 3 comes after page 3":                          func(b *Builder) error { return b.Page(3, 1) },
		"page 4 comes after links":                           func(b *Builder) error { b.Link(1, 3); return b.Page(4, 1) },
		"a link from page 1 comes after one from page 3":     func(b *Builder) error { b.Link(3, 1); return b.Link(1, 3) },
		"a link from page 2 to page 1 comes after one to pa": func(b *Builder) error { b.Link(2, 3); return b.Link(2, 1) },
	} {
		b := NewBuilder(2, 2)
		for _, id := range []int64{1, 2, 3} {
			if name == "page 2 comes after page 3" && id == 2 {
				continue
			}
			if err := b.Page(id, 1); err != nil {
				t.Fatal(err)
			}
		}
		if err := do(b); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("got %v, want %s", err, name)
		}
	}
}

func TestSource(t *testing.T) {
	t.Parallel()
	b := NewBuilder(0, 0)
	for _, id := range []int64{3, 7} {
		if err := b.Page(id, 1); err != nil {
			t.Fatal(err)
		}
	}
	var got []int64
	for _, from := range []int64{1, 3, 4, 7, 8} {
		id, ok := b.Source(from)
		if !ok {
			id = -1
		}
		got = append(got, id)
	}
	if want := []int64{3, 3, 7, 7, -1}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
