package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"recrawl/internal/change"
	"recrawl/internal/extract"
	"recrawl/internal/urlkey"
)

// nearThresholds are the resemblances from which on two pages could count as versions of
// each other.
var nearThresholds = []float64{0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98}

// published is a page of a site in two published versions.
type published struct {
	site, path    string
	before, after change.Content
}

// measureNear prints, for each threshold of content.near_duplicate, how many of the pages
// of kind site are found to be versions of themselves, and how many pairs of other pages
// of the same site are.
func measureNear(args []string) error {
	flags := flag.NewFlagSet("near", flag.ContinueOnError)
	dir := flags.String("pages", "", "`folder` with pairs.jsonl and what it names")
	lists := flags.String("lists", "", "`folder` of the list, if it is elsewhere")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *lists == "" {
		*lists = *dir
	}
	files, done, err := unpacked(*dir)
	if err != nil {
		return err
	}
	defer done()
	bySite := map[string][]published{}
	err = eachLine(filepath.Join(*lists, "pairs.jsonl"), func(p pair) error {
		if p.Kind != "site" {
			return nil
		}
		one := published{site: siteOf(p.Source), path: p.Source}
		var err error
		if one.before, err = contentIn(p.URL, filepath.Join(files, p.Before)); err != nil {
			return err
		}
		if one.after, err = contentIn(p.URL, filepath.Join(files, p.After)); err != nil {
			return err
		}
		bySite[one.site] = append(bySite[one.site], one)
		return nil
	})
	if err != nil {
		return err
	}
	printNear(bySite)
	return nil
}

// siteOf is the first segment of a page's place in its archive.
func siteOf(source string) string {
	site, _, _ := strings.Cut(source, "/")
	return site
}

func contentIn(address, file string) (change.Content, error) {
	body, err := os.ReadFile(file)
	if err != nil {
		return change.Content{}, fmt.Errorf("read a page: %w", err)
	}
	u, err := urlkey.Canonical(address)
	if err != nil {
		return change.Content{}, fmt.Errorf("%s: %w", address, err)
	}
	page, err := extract.Parse(extract.Source{Body: body, ContentType: "text/html", URL: u}, extract.Rules{})
	if err != nil {
		return change.Content{}, fmt.Errorf("%s: %w", address, err)
	}
	return change.Content{Sketch: change.NewSketch(page.Text)}, nil
}

// likeness is how much two pages resemble each other, and whether an index leads from one
// to the other.
type likeness struct {
	of    [2]string
	r     float64
	found bool
}

func compareNear(a, b change.Content, of [2]string) (likeness, bool) {
	if min(len(a.Sketch), len(b.Sketch)) < change.MinShingles {
		return likeness{}, false
	}
	keys := b.Keys()
	found := slices.ContainsFunc(a.Keys(), func(k uint64) bool { return slices.Contains(keys, k) })
	return likeness{of: of, r: a.Sketch.Resemblance(b.Sketch), found: found}, true
}

func printNear(bySite map[string][]published) {
	var same, others []likeness
	for _, pages := range bySite {
		for i, p := range pages {
			if l, ok := compareNear(p.before, p.after, [2]string{p.path, p.path}); ok {
				same = append(same, l)
			}
			for _, q := range pages[:i] {
				if l, ok := compareNear(p.before, q.before, [2]string{p.path, q.path}); ok && p.path != q.path {
					others = append(others, l)
				}
			}
		}
	}
	fmt.Printf("%d pages with two versions, %d pairs of other pages of a site\n", len(same), len(others))
	fmt.Printf("%9s %8s %9s %12s %10s\n", "threshold", "recall", "by keys", "other pages", "precision")
	for _, t := range nearThresholds {
		versions, byKeys := reaching(same, t)
		wrong, _ := reaching(others, t)
		fmt.Printf("%9.2f %7.1f%% %8.1f%% %12d %9.1f%%\n", t, 100*share(versions, len(same)), 100*share(byKeys, versions),
			wrong, 100*share(versions, versions+wrong))
	}
	slices.SortFunc(others, func(a, b likeness) int { return cmp.Compare(b.r, a.r) })
	fmt.Println("\nother pages that resemble each other most")
	for _, l := range others[:min(25, len(others))] {
		fmt.Printf("%.3f %s %s\n", l.r, l.of[0], l.of[1])
	}
}

// reaching counts what reaches a threshold, and what of that an index leads to.
func reaching(all []likeness, threshold float64) (n, found int) {
	for _, l := range all {
		if l.r >= threshold {
			n++
			if l.found {
				found++
			}
		}
	}
	return n, found
}
