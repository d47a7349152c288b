package trap

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"recrawl/internal/urlkey"
)

// route answers addresses of a form with a page, depending on the form's groups.
type route struct {
	form *regexp.Regexp
	page func(m []string) place
}

func routes(list ...any) func(u urlkey.URL) place {
	var all []route
	for i := 0; i < len(list); i += 2 {
		all = append(all, route{regexp.MustCompile("^" + list[i].(string) + "$"), list[i+1].(func([]string) place)})
	}
	return func(u urlkey.URL) place {
		for _, r := range all {
			if m := r.form.FindStringSubmatch(u.Target()); m != nil {
				return r.page(m)
			}
		}
		return place{own: "Not found"}
	}
}

func num(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

func only(links ...string) func([]string) place {
	return func([]string) place { return place{"Welcome to our site.", links} }
}

// span returns the addresses from one number to another for which there are pages.
func span(format string, from, to, last int) []string {
	var links []string
	for n := max(from, 0); n <= min(to, last); n++ {
		links = append(links, fmt.Sprintf(format, n))
	}
	return links
}

// neighbours are the addresses before and after one.
func neighbours(format string, n, last int) []string {
	return slices.DeleteFunc(span(format, n-1, n+1, last), func(s string) bool { return s == fmt.Sprintf(format, n) })
}

// finiteSites are sites with an end, which a crawl should have in full: by the schemes
// of the programs that run them. Each text is short, from a stock of words, and the
// pages say nothing else: nothing more distinguishes them from an endless part.
func finiteSites() map[string]func(u urlkey.URL) place {
	const threads, perPage = 20_000, 40
	forumIndex := func(m []string) place {
		n := 0
		if len(m) > 1 {
			n = num(m[1])
		}
		links := append(span("/thread/%d", n*perPage, n*perPage+perPage-1, threads-1), neighbours("/forum?page=%d", n, threads/perPage-1)...)
		return place{"Threads\nPage " + strconv.Itoa(n), append(links, "/")}
	}
	sites := map[string]func(u urlkey.URL) place{
		"forum": routes("/", only("/forum"), `/forum`, forumIndex, `/forum\?page=(\d+)`, forumIndex, `/thread/(\d+)`, func(m []string) place {
			n := num(m[1])
			return place{"Thread " + m[1] + "\n" + prose(14, "thread", n), append(neighbours("/thread/%d", n, threads-1), "/", fmt.Sprintf("/forum?page=%d", n/perPage))}
		}),
		"forum of numbered threads that say next to nothing": routes("/", only("/forum"), `/forum`, forumIndex, `/forum\?page=(\d+)`, forumIndex, `/thread/(\d+)`, func(m []string) place {
			return place{"Thread " + m[1] + "\nMe too.", []string{"/", "/forum"}}
		}),
		"shop": routes("/", only("/shop?page=1"), `/shop\?page=(\d+)`, func(m []string) place {
			n := num(m[1])
			return place{"Our products", append(span("/product/%d", n*24, n*24+23, 4999), neighbours("/shop?page=%d", n, 208)...)}
		}, `/product/(\d+)`, func(m []string) place {
			r := rng("related", m[1])
			p := place{"Product " + m[1] + "\nPrice 12.99\nIn stock\n" + prose(16, "product", m[1]), []string{"/"}}
			for range 4 {
				p.links = append(p.links, fmt.Sprintf("/product/%d", r.IntN(5000)))
			}
			return p
		}),
		"changelog with an index": routes("/", only("/changelog/"), `/changelog/`, func([]string) place {
			return place{"Versions", span("/changelog/1.%d.0", 0, 299, 299)}
		}, `/changelog/1\.(\d+)\.0`, func(m []string) place {
			return place{"Version 1." + m[1] + ".0\nBug fixes.", append(neighbours("/changelog/1.%d.0", num(m[1]), 299), "/changelog/")}
		}),
		"changelog without": routes("/", only("/changelog/1.299.0"), `/changelog/1\.(\d+)\.0`, func(m []string) place {
			return place{"Version 1." + m[1] + ".0\n" + prose(18, "version", m[1]), append(neighbours("/changelog/1.%d.0", num(m[1]), 299), "/")}
		}),
		"tags": routes("/", func([]string) place {
			return place{"Posts", append(span("/post/%d", 0, 199, 199), span("/tag/t%d/page/0", 0, 9, 9)...)}
		}, `/post/(\d+)`, func(m []string) place { return place{prose(40, "post", m[1]), []string{"/"}} },
			`/tag/t(\d+)/page/(\d+)`, func(m []string) place {
				p := place{"Posts of a tag", append(neighbours("/tag/t"+m[1]+"/page/%d", num(m[2]), 40), "/")}
				for range 5 {
					p.links = append(p.links, fmt.Sprintf("/post/%d", rng(m[1], m[2], len(p.links)).IntN(200)))
				}
				return p
			}),
		"photographs": routes("/", only("/album/0"), `/album/(\d+)`, func(m []string) place {
			n := num(m[1])
			return place{"Album", append(span("/photo/%d", n*30, n*30+29, 1499), neighbours("/album/%d", n, 49)...)}
		}, `/photo/(\d+)`, func(m []string) place { return place{"Photo", neighbours("/photo/%d", num(m[1]), 1499)} }),
		"a numbered tree whose pages say nothing": routes(`/(?:p(\d+)\.html)?`, func(m []string) place {
			return place{"page " + m[1], span("/p%d.html", 2*num(m[1])+1, 2*num(m[1])+2, 199)}
		}),
		"a numbered tree of ten each": routes(`/(?:item/(\d+))?`, func(m []string) place {
			return place{"", span("/item/%d", 10*num(m[1])+1, 10*num(m[1])+10, 499)}
		}),
		"a numbered web": routes(`/(?:\?id=(\d+))?`, func(m []string) place {
			p := place{own: "Entry " + m[1]}
			for range 6 {
				p.links = append(p.links, fmt.Sprintf("/?id=%d", 1+rng(m[1], len(p.links)).IntN(200)))
			}
			return p
		}),
		"a tree of files": func(u urlkey.URL) place {
			depth := len(u.Segments())
			if !strings.HasSuffix(u.Path(), "/") {
				return place{own: ""} // a file without text
			}
			p := place{"Directory listing", []string{"../"}}
			r := rng(u.String())
			for n := range 2 + r.IntN(5) {
				if depth < 4 {
					p.links = append(p.links, fmt.Sprintf("%s%d/", stock[r.IntN(len(stock))], n))
				}
				if depth > 1 {
					p.links = append(p.links, fmt.Sprintf("%s%d.txt", stock[r.IntN(len(stock))], n))
				}
			}
			return p
		},
	}
	sites["mailing list"] = mailingList(func(n int) string { return prose(12, "message", n) })
	sites["wiki"] = wiki()
	sites["events"] = events()
	sites["archive of a blog"] = blogArchive()
	return sites
}

// mailingList is messages by month, each with links to those before and after it, to
// the one that it answers, and to its month.
func mailingList(text func(n int) string) func(u urlkey.URL) place {
	const months, messages = 120, 60
	month := func(n int) string {
		return time.Date(2010, time.January+time.Month(n), 1, 0, 0, 0, 0, time.UTC).Format("/list/2006-01/")
	}
	address := func(n int) string { return fmt.Sprintf("%smsg%05d.html", month(n/messages), n) }
	byMonth := map[string]int{}
	for n := range months {
		byMonth[month(n)] = n
	}
	return routes("/", func([]string) place { return place{"Archives", slices.Collect(maps.Keys(byMonth))} },
		`(/list/[\d-]+/)`, func(m []string) place {
			n := byMonth[m[1]]
			p := place{"Messages by date", []string{"/"}}
			for i := range messages {
				p.links = append(p.links, address(n*messages+i))
			}
			if n+1 < months {
				p.links = append(p.links, month(n+1))
			}
			return p
		}, `/list/[\d-]+/msg(\d+)\.html`, func(m []string) place {
			n := num(m[1])
			return place{"Re: question\n" + text(n), []string{month(n / messages), address(max(n-1, 0)), address(min(n+1, months*messages-1)), address(n * 9 / 10)}}
		})
}

// wiki is categories of categories and of articles, all under one path.
func wiki() func(u urlkey.URL) place {
	return routes("/", only("/wiki/Category:0"), `/wiki/Category:(\d+)`, func(m []string) place {
		n := num(m[1])
		links := span("/wiki/Category:%d", 6*n+1, 6*n+6, 900)
		for i := range 12 {
			links = append(links, fmt.Sprintf("/wiki/Article_%s_%d", stock[(n*7+i)%len(stock)], n*5+i))
		}
		return place{"Pages in this category", links}
	}, `/wiki/Article_(\w+)`, func(m []string) place {
		r := rng("article", m[1])
		return place{prose(25, "article", m[1]), []string{fmt.Sprintf("/wiki/Category:%d", r.IntN(900)), fmt.Sprintf("/wiki/Article_%s_%d", stock[r.IntN(len(stock))], r.IntN(4000))}}
	})
}

// events is a calendar of ten years with an event every other month or so.
func events() func(u urlkey.URL) place {
	month := func(n int) string {
		return time.Date(2020, time.January+time.Month(n), 1, 0, 0, 0, 0, time.UTC).Format("/events/2006/01")
	}
	number := map[string]int{}
	for n := range 120 {
		number[month(n)] = n
	}
	return routes("/", only(month(70)), `(/events/\d+/\d+)`, func(m []string) place {
		n := number[m[1]]
		p := place{own: "Events of the month", links: []string{"/"}}
		for _, at := range []int{n - 1, n + 1} {
			if at >= 0 && at < 120 {
				p.links = append(p.links, month(at))
			}
		}
		if rng("event", n).IntN(2) == 0 {
			p.links = append(p.links, fmt.Sprintf("/event/%d", n))
		}
		return p
	}, `/event/(\d+)`, func(m []string) place { return place{prose(30, "event", m[1]), []string{"/"}} })
}

// blogArchive is months of lists of posts that the months' neighbours list too.
func blogArchive() func(u urlkey.URL) place {
	return routes("/", only("/2010/0/"), `/(\d+)/(\d+)/`, func(m []string) place {
		n := 12*(num(m[1])-2010) + num(m[2])
		var links []string
		for _, at := range []int{n - 1, n + 1} {
			if at >= 0 && at < 180 {
				links = append(links, fmt.Sprintf("/%d/%d/", 2010+at/12, at%12))
			}
		}
		for i := range 4 {
			links = append(links, fmt.Sprintf("/%s/%s/post-%d", m[1], m[2], n*3+i))
		}
		return place{"Archive", links}
	}, `/\d+/\d+/post-(\d+)`, func(m []string) place { return place{prose(20, "post", m[1]), []string{"/"}} })
}

// TestFiniteSitesLoseNoPage whose pages are short, alike, or lead on.
func TestFiniteSitesLoseNoPage(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many sites")
	}
	t.Parallel()
	for name, site := range finiteSites() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := crawlSite(t, "http://h.example/", 700, site)
			t.Logf("%d fetches", w.fetched)
			if len(w.found) > 0 {
				t.Errorf("after %d fetches: %+v", w.fetched, w.found)
			}
			if w.fetched < 160 {
				t.Errorf("the crawl ended after %d fetches", w.fetched)
			}
		})
	}
}

// TestShortSlideShow: one page after another without a word, and then an end.
func TestShortSlideShow(t *testing.T) {
	t.Parallel()
	w := crawlSite(t, "http://h.example/", 700, routes("/", only("/slide/1"), `/slide/(\d+)`, func(m []string) place {
		return place{"", append(neighbours("/slide/%d", num(m[1]), chainRun-2), "/")}
	}))
	if len(w.found) > 0 || w.fetched < chainRun {
		t.Errorf("%d fetches, %+v", w.fetched, w.found)
	}
}
