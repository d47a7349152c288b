package storetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func seedCases() []collectionCase {
	return []collectionCase{
		{"ImportedOnce", importOnce},
		{"ImportGoesOn", importGoesOn},
		{"KeysAreTheCrawls", importKeys},
		{"ForgottenIsLeftOut", importForgotten},
		{"RefusedIsForgotten", importForgetsRefused},
		{"GenerationRises", importGeneration},
		{"HeldIsFreed", importFrees},
		{"ManyAtOnce", importAtOnce},
		{"NotTooMany", importTooMany},
		{"RedirectedSeedOfAnImport", importRedirected},
		{"NoSuchCrawl", importNoCrawl},
	}
}

// seeds are n seeds of a host, each with a key for its URL and one for its host.
func (c *collection) newSeeds(host, from, n int) []store.NewSeed {
	all := make([]store.NewSeed, n)
	for i := range all {
		u := c.url(host, from+i, 0)
		all[i] = store.NewSeed{URL: u.URL, Host: u.Host, Keys: []crawl.SeedKey{{Kind: crawl.SeedURL, Text: u.URL}, {Kind: crawl.SeedHost, Text: u.Host}}}
	}
	return all
}

func (c *collection) importSeeds(p store.ImportParams) store.ImportResult {
	c.Helper()
	p.CrawlID = c.id
	res, err := c.s.ImportSeeds(c.ctx, p)
	c.check(err)
	return res
}

func (c *collection) importOf(source string) store.Import {
	c.Helper()
	i, err := c.s.Import(c.ctx, c.id, source)
	c.check(err)
	return i
}

// imports lists unfinished imports with their entries.
func (c *collection) imports(limit int) (text string) {
	c.Helper()
	all, err := c.s.Imports(c.ctx, c.id, limit)
	c.check(err)
	for _, i := range all {
		if i.At.IsZero() {
			c.Fatalf("%+v", i)
		}
		text += fmt.Sprint(" ", i.Source, " ", i.Entries)
	}
	return text
}

func (c *collection) seedKeys(keys ...crawl.SeedKey) string {
	c.Helper()
	found, err := c.s.SeedKeys(c.ctx, c.id, keys)
	c.check(err)
	text := ""
	for _, k := range keys {
		if found[k] {
			text += fmt.Sprint(" ", k.Kind)
		}
	}
	return text
}

func importOnce(c *collection) {
	c.with(10, 0)
	c.known(1, 2) // of which a link led to two
	seeds := c.newSeeds(1, 0, 5)
	seeds = append(seeds, seeds[0])
	res := c.importSeeds(store.ImportParams{Seeds: seeds})
	want(c, "new and known", fmt.Sprint(res.Import.New, res.Import.Known, res.Import.Forgotten), "3 3 0")
	again := c.importSeeds(store.ImportParams{Seeds: seeds})
	want(c, "again", fmt.Sprint(again.Import.New, again.Import.Known), "0 6")
	want(c, "level of a page that was known", c.find(seeds[1].URL).Level, 0)
	want(c, "state", c.find(seeds[4].URL).State, crawl.Known)
	want(c, "pages", c.status().Pages[crawl.Known], 5)
	candidates, err := c.s.Candidates(c.ctx, store.CandidateParams{CrawlID: c.id, Limit: 10})
	c.check(err)
	want(c, "candidates", len(candidates), 5)
	c.checkCounts()
}

func importGoesOn(c *collection) {
	c.open()
	want(c, "before", fmt.Sprint(c.importOf("list")), fmt.Sprint(store.Import{}))
	refused := map[string]store.RefusedSeeds{"no URL": {Entries: 1, Examples: []string{"x\x00y"}}}
	first := c.importSeeds(store.ImportParams{Source: "list", Seeds: c.newSeeds(1, 0, 2), Import: store.Import{Entries: 3, Refused: refused, Listed: 7}})
	want(c, "kept", fmt.Sprint(c.importOf("list")), fmt.Sprint(first.Import))
	next := first.Import
	next.Entries = 5
	second := c.importSeeds(store.ImportParams{Source: "list", Seeds: c.newSeeds(1, 1, 2), Import: next})
	want(c, "the sum", fmt.Sprint(second.Import.Entries, second.Import.New, second.Import.Known, second.Import.Refused["no URL"].Entries), "5 3 1 1")
	// Without seeds it only records its progress.
	next = second.Import
	next.Entries = 9
	c.importSeeds(store.ImportParams{Source: "list", Import: next})
	want(c, "of nothing", c.importOf("list").Entries, 9)
	want(c, "another source", c.importOf("other").Entries, 0)
	c.importSeeds(store.ImportParams{Source: "other", Import: store.Import{Entries: 4}})
	c.importSeeds(store.ImportParams{Seeds: c.newSeeds(2, 0, 1), Import: store.Import{Entries: 1}}) // cannot be continued
	want(c, "all imports", c.imports(10), " other 4 list 9")
	want(c, "the last import", c.imports(1), " other 4")
	c.check(c.s.EndImport(c.ctx, c.id, "other"))
	want(c, "the other imports", c.imports(10), " list 9")
	c.check(c.s.EndImport(c.ctx, c.id, "list"))
	want(c, "after its end", c.importOf("list").Entries, 0)
}

func importKeys(c *collection) {
	c.open()
	c.importSeeds(store.ImportParams{Seeds: c.newSeeds(1, 0, 1)})
	url, host := crawl.SeedKey{Kind: crawl.SeedURL, Text: c.url(1, 0, 0).URL}, crawl.SeedKey{Kind: crawl.SeedHost, Text: c.host(1)}
	want(c, "keys", c.seedKeys(url, host, crawl.SeedKey{Kind: crawl.SeedHost, Text: c.host(2)}, crawl.SeedKey{Kind: crawl.SeedDomain, Text: c.host(1)}), " 1 2")
	want(c, "of none", c.seedKeys(), "")
	other := newCollection(c.T, c.s)
	other.name, other.spec.Name = c.name+"-2", c.name+"-2"
	other.open()
	want(c, "another crawl's keys", other.seedKeys(url, host), "")
}

func importForgotten(c *collection) {
	c.open()
	seeds := c.newSeeds(1, 0, 3)
	c.forgetURL(seeds[1].URL)
	res := c.importSeeds(store.ImportParams{Seeds: seeds})
	want(c, "counts", fmt.Sprint(res.Import.New, res.Import.Known, res.Import.Forgotten, res.Forgotten), fmt.Sprint("2 0 1 ", []string{seeds[1].URL}))
	want(c, "keys", c.seedKeys(seeds[1].Keys[0], seeds[2].Keys[0], seeds[2].Keys[1]), " 1 2")
}

// importForgetsRefused: the entries that an import refused are written nearly as pages are,
// so a takedown removes those that name its target, and none comes back with the rest of
// the import, which was already holding it.
func importForgetsRefused(c *collection) {
	c.open()
	page, host := c.url(1, 0, 0), c.host(2)
	bare := strings.TrimPrefix(page.URL, "https://")
	refused := map[string]store.RefusedSeeds{
		"user name or password": {Entries: 9, Examples: []string{
			strings.Replace(page.URL, "https://", "https://me:secret@", 1), "https://me@" + strings.ToUpper(host) + "/x", c.url(3, 0, 0).URL,
		}},
		"not an absolute http or https URL": {Entries: 2, Examples: []string{"see " + bare, host + "/y"}},
	}
	source := c.name + " list"
	res := c.importSeeds(store.ImportParams{Source: source, Import: store.Import{Entries: 11, Refused: refused}})
	kept := func() string {
		var all []string
		for _, reason := range slices.Sorted(maps.Keys(refused)) {
			r := c.importOf(source).Refused[reason]
			all = append(all, fmt.Sprint(r.Entries, r.Examples))
		}
		return strings.Join(all, " ")
	}
	c.forget(store.ForgetParams{Target: store.Target{URL: page.URL}, Dry: true})
	want(c, "after a dry run", c.importOf(source).Refused["not an absolute http or https URL"].Examples[0], "see "+bare)
	c.forgetURL(page.URL)
	c.forget(store.ForgetParams{Target: store.Target{Host: host}})
	left := fmt.Sprintf("2 [] 9 [%s]", c.url(3, 0, 0).URL)
	want(c, "after the takedown", kept(), left)
	res.Import.Refused["not an absolute http or https URL"] = store.RefusedSeeds{Entries: 2}
	again := c.importSeeds(store.ImportParams{Source: source, Import: res.Import})
	want(c, "after another batch", kept(), left)
	want(c, "what the import goes on with", len(again.Import.Refused["user name or password"].Examples), 1)
}

func (c *collection) record() store.CrawlRecord {
	c.Helper()
	rec, err := c.s.Crawl(c.ctx, c.name)
	c.check(err)
	return rec
}

func importGeneration(c *collection) {
	c.open()
	before := c.record()
	want(c, "imported", before.Imported, false)
	c.importSeeds(store.ImportParams{Seeds: c.newSeeds(1, 0, 1)})
	first := c.record()
	want(c, "imported", first.Imported, true)
	want(c, "generation of the first batch", first.Generation, before.Generation+1)
	c.importSeeds(store.ImportParams{Seeds: c.newSeeds(1, 1, 1)})
	want(c, "generation of the second", c.record().Generation, first.Generation)
	c.check(c.s.EndImport(c.ctx, c.id, ""))
	want(c, "generation of the end", c.record().Generation, first.Generation+1)
	c.open()
	want(c, "imported, of the crawl that is opened again", c.record().Imported, true)
}

func importFrees(c *collection) {
	c.open()
	set, err := c.s.SetTraps(c.ctx, c.id, []store.NewTrap{{Site: "x.test", Host: c.host(1), Name: "x", Reason: "r", Pattern: []byte(`{}`)}})
	c.check(err)
	u := c.url(1, 0, 1)
	u.Trap = set[0].ID
	c.register(0, c.url(1, 9, 0))
	c.register(c.find(c.url(1, 9, 0).URL).PageID, u)
	want(c, "before", c.find(u.URL).State, crawl.Held)
	c.importSeeds(store.ImportParams{Seeds: c.newSeeds(1, 0, 1)})
	want(c, "after", c.find(u.URL).State, crawl.Known)
	c.checkCounts()
}

// Imports of overlapping lists at once, beside links, lose and double nothing.
func importAtOnce(c *collection) {
	c.open()
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			for n := range 5 {
				if _, err := c.s.ImportSeeds(c.ctx, store.ImportParams{CrawlID: c.id, Source: fmt.Sprint(i), Seeds: c.newSeeds(n%2, 7*n+i, 20)}); err != nil {
					c.Error(err)
				}
			}
		})
		wait.Go(func() {
			for n := range 5 {
				if _, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, URLs: c.urls(n%2, 15, 1)}); err != nil {
					c.Error(err)
				}
			}
		})
	}
	wait.Wait()
	c.checkCounts()
}

func importTooMany(c *collection) {
	c.open()
	_, err := c.s.ImportSeeds(c.ctx, store.ImportParams{CrawlID: c.id, Seeds: c.newSeeds(1, 0, store.ImportBatch+1)})
	want(c, "refused", err != nil, true)
}

func importRedirected(c *collection) {
	c.open()
	seeds := c.newSeeds(1, 0, 2)
	c.importSeeds(store.ImportParams{Seeds: seeds[:1]})
	before := c.record()
	p := store.RedirectedSeed{Crawl: c.name, From: seeds[0].URL, To: seeds[1].URL, Host: seeds[1].Host, Imported: true, Keys: seeds[1].Keys}
	verdict, err := c.s.AddRedirectedSeed(c.ctx, p)
	c.check(err)
	want(c, "verdict", verdict, store.SeedAdded)
	want(c, "seeds of the spec", len(c.record().Spec.Seeds), len(before.Spec.Seeds))
	want(c, "generation", c.record().Generation, before.Generation+1)
	want(c, "keys", c.seedKeys(seeds[1].Keys...), " 1 2")
	// A spec that is full grows no more either.
	for i := len(c.spec.Seeds); i < crawl.MostSeeds; i++ {
		c.spec.Seeds = append(c.spec.Seeds, c.url(3, i, 0).URL)
	}
	c.open()
	p = store.RedirectedSeed{Crawl: c.name, From: c.spec.Seeds[0], To: c.url(4, 0, 0).URL, Host: c.host(4), Keys: []crawl.SeedKey{{Kind: crawl.SeedURL, Text: c.url(4, 0, 0).URL}}}
	verdict, err = c.s.AddRedirectedSeed(c.ctx, p)
	c.check(err)
	want(c, "verdict", verdict, store.SeedAdded)
	want(c, "seeds of the spec", len(c.record().Spec.Seeds), crawl.MostSeeds)
	want(c, "keys", c.seedKeys(p.Keys...), " 1")
}

func importNoCrawl(c *collection) {
	_, err := c.s.ImportSeeds(c.ctx, store.ImportParams{CrawlID: 1 << 40, Seeds: c.newSeeds(1, 0, 1)})
	c.wantError(err, store.ErrNotFound)
	c.wantError(c.s.EndImport(c.ctx, 1<<40, "x"), store.ErrNotFound)
}
