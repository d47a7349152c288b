package trap

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/testsite"
)

// year is the current year in the tests.
const year = 2026

// cleanSites are the addresses of sites as they are found on the web, made by the
// schemes of the programs that run them. Every one of them is a page that a crawl
// should have.
func cleanSites() map[string][]string {
	sites := map[string][]string{}
	add := func(site, format string, args ...any) {
		sites[site] = append(sites[site], fmt.Sprintf("https://"+site+format, args...))
	}
	for i := range 600 {
		add("wiki.example", "/wiki/Article_%d", i)
		add("wiki.example", "/index.php?title=Article_%d&action=history", i)
		add("wiki.example", "/index.php?title=Article_%d&oldid=%d", i, 100000+7*i)
		add("wiki.example", "/index.php?title=Article_%d&diff=%d&oldid=%d", i, 100007+7*i, 100000+7*i)
		add("wiki.example", "/index.php?title=Category:%d&pagefrom=%d&subcatfrom=%d&filefrom=%d", i/20, i, i, i)
		add("forum.example", "/viewtopic.php?f=%d&t=%d", i%12, i)
		add("forum.example", "/viewtopic.php?p=%d", 9000+i)
		for start := 15; start < 15*(i%7); start += 15 {
			add("forum.example", "/viewtopic.php?f=%d&t=%d&start=%d", i%12, i, start)
			add("forum.example", "/viewforum.php?f=%d&start=%d&sd=d&sk=t&st=0", i%12, start)
		}
		add("blog.example", "/%d/%02d/%02d/what-happened-on-day-%d/", 1999+i/24, 1+i%12, 1+i%28, i)
		add("blog.example", "/%d/%02d/", 1999+i/24, 1+i%12)
		for p := range 1 + i%4 {
			add("board.example", "/thread-%d-%d-1.html", 1700+i, 1+p)
		}
		add("board.example", "/forum-%d-%d.html", i%12, 1+i/12)
		add("blog.example", "/page/%d/", i)
		add("blog.example", "/tag/word-%d/page/%d/", i%40, i/40)
		add("paper.example", "/archive/%d/%02d/%02d", 1851+i/4, 1+i%12, 1+i%28)
		add("paper.example", "/archive/%d-%02d-%02d.html", 1851+i/4, 1+i%12, 1+i%28)
		add("list.example", "/pipermail/dev/%d-May/%06d.html", 1998+i%28, i)
		add("list.example", "/archives/dev/%d-%02d/msg%05d.html", 1998+i%28, 1+i%12, i)
		add("api.example", "/docs/%d/api/java.base/java/util/concurrent/atomic/package-%d/Class%d.html", 8+i%14, i%9, i)
		add("code.example", "/apache/commons/src/main/java/org/apache/commons/lang/src/main/resources/org/f%d.java", i)
		add("code.example", "/project-%d/project-%d/tree/master/project-%d/src", i, i, i)
		add("shop.example", "/catalog?category=%d&page=%d", i%30, i/30)
		add("shop.example", "/catalog?category=%d&page=%d&sort=price", i%30, i/30)
		add("shop.example", "/item/%08d", 20290101+i*137)
		add("shop.example", "/img/%x/%x/%x/%064x.jpg", i%16, i%16, i%16, i)
		add("soft.example", "/release/%d.%d.%d/notes", i%9, i%7, i%30)
		add("soft.example", "/story?sid=%d&s=release+notes+of+version+%d", 20240101000000000+i, i)
		add("go.example", "/pkg/v%d@v%d.%d.0/internal/internal/cmd", i%20, i%20, i)
		add(fmt.Sprintf("user%d.hosting.example", i%60), "/post/%d", i)
		add("events.example", "/%d/%02d/%02d/meeting", 2026+i%3, 1+i%12, 1+i%28) // this year and the next two
		add("events.example", "/plans/%d/%02d", 2029+i%2, 1+i%2)                 // some are long planned
	}
	return sites
}

// realURLs are addresses of this machine's documentation, if there is any.
func realURLs(t *testing.T) map[string][]string {
	t.Helper()
	sites := map[string][]string{}
	roots, _ := filepath.Glob("/usr/share/doc/*/html")
	for _, root := range append(roots, "/usr/local/go/doc", "/usr/share/doc") {
		_ = filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() && len(sites["doc.example"]) < 20000 && !strings.ContainsAny(path, " %?#") {
				sites["doc.example"] = append(sites["doc.example"], "https://doc.example"+filepath.ToSlash(path))
			}
			return nil
		})
	}
	return sites
}

// TestCleanSitesLoseNoPage: not before they are visited, not while all their
// contents differ, and not with a tenth of their contents copies.
func TestCleanSitesLoseNoPage(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many sites")
	}
	t.Parallel()
	sites := cleanSites()
	for _, h := range testsite.Demo() {
		for _, p := range h.Pages {
			sites[h.Name] = append(sites[h.Name], "http://"+h.Name+p.Path)
		}
	}
	for site, urls := range realURLs(t) {
		sites[site] = urls
	}
	hosts := 0
	for host, urls := range sites {
		hosts++
		for _, copies := range []int{0, 10} {
			var pages []Page
			for i, url := range urls {
				u := canonical(t, url)
				if found, ok := Shaped(u); ok {
					t.Errorf("%s: %+v", url, found)
				}
				if base, found, ok := Session(u); ok {
					t.Errorf("%s: %+v of %s", url, found, base)
				}
				p := Page{URL: u, Waits: i%3 == 0, ID: int64(i + 1), Finder: int64(i), Said: Says(prose(14, url), u, nil)}
				p.Content = !p.Waits
				p.Copy = copies > 0 && i%copies == 1
				pages = append(pages, p)
			}
			if found := Look(pages, year, nil); len(found) > 0 {
				t.Errorf("%s, one copy in %d: %+v", host, copies, found)
			}
			if found := Suspects(pages); len(found) > 0 {
				t.Errorf("%s, one copy in %d: suspected %+v", host, copies, found)
			}
		}
	}
	t.Logf("%d hosts", hosts)
}

// A family of hosts with different contents is no trap.
func TestHostsWithContentsAreNone(t *testing.T) {
	t.Parallel()
	var pages []Page
	for i := range 500 {
		pages = append(pages, Page{URL: canonical(t, fmt.Sprintf("https://user%d.hosting.example/", i)), Waits: i%2 == 0, Content: i%2 == 1, Copy: i%10 == 1})
	}
	if found := Look(pages, year, nil); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

// TestOwnContentsAreNeverCopies: whatever the addresses, a part of a site is only
// taken for copied if the visited pages are.
func TestOwnContentsAreNeverCopies(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		words := rapid.SampledFrom([]string{"a", "b", "12", "7", "docs", "?x=1", "?x=2&y=1", "?y=2"})
		var pages []Page
		for range rapid.IntRange(0, 300).Draw(r, "pages") {
			path := strings.ReplaceAll(strings.Join(rapid.SliceOfN(words, 0, 4).Draw(r, "path"), "/"), "/?", "?")
			p := Page{URL: canonical(t, "https://h.example/"+path)}
			switch rapid.IntRange(0, 3).Draw(r, "what") {
			case 0:
				p.Waits = true
			case 1:
				p.Content = true
			default:
				p.Content, p.Copy = true, true
			}
			pages = append(pages, p)
		}
		for _, found := range Look(pages, year, nil) {
			if found.Reason != ReasonCopies {
				continue
			}
			own, copied, waiting := 0, 0, 0
			for _, p := range pages {
				switch {
				case !found.Pattern.Covers(p.URL):
				case p.Waits:
					waiting++
				case p.Copy:
					copied++
				default:
					own++
				}
			}
			// Pages found below a path count there alone, so the share of all is at least
			// that of each.
			if float64(copied) < minShare*float64(own+copied) || waiting == 0 || len(found.Pattern.Path) == 0 {
				r.Fatalf("%s: %d own, %d copied, %d waiting", found.Pattern, own, copied, waiting)
			}
		}
	})
}

// FuzzLook: any list of addresses is survived, and each finding covers some of
// them.
func FuzzLook(f *testing.F) {
	f.Add("http://h.example/2031/05\nhttp://h.example/a?b=1&c=2")
	f.Fuzz(func(t *testing.T, text string) {
		var pages []Page
		for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
			u := canonicalOrZero(lines.Text())
			if u.IsZero() {
				continue
			}
			Shaped(u)
			if base, _, ok := Session(u); ok {
				if _, _, again := Session(base); again {
					t.Errorf("%s without its session %s has one", u, base)
				}
			}
			pages = append(pages, Page{URL: u, Content: true, Copy: len(pages)%9 != 0, Waits: true})
		}
		for _, found := range Look(pages, year, nil) {
			covered := false
			for _, p := range pages {
				covered = covered || found.Pattern.Covers(p.URL)
			}
			if !covered && found.Pattern.Kind != KindHosts && found.Pattern.Kind != KindParams {
				t.Errorf("%s covers nothing", found.Pattern)
			}
		}
	})
}
