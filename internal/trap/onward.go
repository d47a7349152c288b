package trap

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"recrawl/internal/change"
	"recrawl/internal/urlkey"
)

// The evidence that makes a trap of pages whose only yield is more of their kind. Each
// of the numbers alone is met by clean sites: short pages are those of changelogs and
// mailing lists, lists lead to other pages, and every site has pages that lead on.
const (
	// onwardRun is how many pages of a form, the last that were found, are examined,
	// and minEmpty the share of them that must be empty.
	onwardRun = 20
	minEmpty  = 0.85
	// mostSaid is how many distinctive phrases an empty page may have: the name of a
	// month, the numbers of its weeks, a person's town.
	mostSaid = 10
	// A phrase is common if at least this many pages say it, and this share of them: a
	// form may be filled in from a few texts.
	leastCommon = 3
	commonShare = 0.15
	// minLeads is the share of the pages that must each have been the first to lead to
	// another one of the form. Pages that an index lists lead to known pages.
	minLeads = 0.9
	// mostElsewhere is the share of the pages' first finds that may be of other forms,
	// unless these are empty too. Lists lead to the items that they list.
	mostElsewhere = 0.1
	// minNested is how many pages of the form must have been found on a page of the form
	// that was found on such a page. About a list whose items are not visited yet nothing
	// is known.
	minNested = 8
	// Dates are judged together whatever their spelling, with dateRun pages: where a
	// month leads to its days, these lead nowhere, but the dates together go on.
	dateRun       = 64
	minDateNested = 4
	// branching is the number of new pages per page from which a numbered form
	// branches. One that does must have a page for each filled numbers up to the
	// highest: the items of a site are counted from one on. Random numbers fill
	// nothing. Without branches it is one page after another: of these chainRun pages
	// must be known.
	branching = 1.5
	filled    = 4
	chainRun  = 39
	// menuShare is the share of the pages that link to the pages in their menu.
	menuShare = 0.5
	// addresses is how many of a page's links are searched for names.
	addresses = 500
)

// Says is a page's distinctive text: its text without links, and without the words
// of its address and of those that it links to. The names of pages are no more than
// links to them.
func Says(own string, u urlkey.URL, links []string) change.Wording {
	without := []string{words(u.Target())}
	for _, link := range links[:min(len(links), addresses)] {
		if to, err := url.Parse(link); err == nil {
			without = append(without, words(to.RequestURI()))
		}
	}
	return change.NewWording(own, without...)
}

// words is the part of an address after its host as a person would read it.
func words(target string) string {
	if text, err := url.QueryUnescape(target); err == nil {
		return text
	}
	return target
}

// isEmpty reports whether a page says hardly more than is common. A page about
// which nothing is known, such as a redirect, says nothing.
func (p Page) isEmpty(common []uint32) bool {
	return p.Copy || !p.Said.Known || p.Said.Without(common) <= mostSaid
}

// Link is a link of a page, with the page on which its target was found first.
type Link struct {
	From, To, Finder int64
	URL              urlkey.URL // of To
}

// Suspect is a form of URL whose pages are empty. The links of some of them show
// whether they are a trap.
type Suspect struct {
	Pattern Pattern
	// Pages are those whose links Judge wants, by id.
	Pages []int64

	finders map[int64]int64 // of all visited pages of the form
	numbers map[int]bool    // those of their addresses, nil unless only a number differs
	said    int             // the most that one of the empty pages says
	others  []Pattern       // the other empty forms of the host
}

// Suspects finds forms of URL whose visited pages are empty, on each host separately.
// Pages whose Said is not known are no evidence, except redirects, which are Content
// with a known, empty Said.
func Suspects(pages []Page) []Suspect {
	byHost := map[string][]Page{}
	for _, p := range pages {
		if p.Said.Known {
			byHost[p.URL.HostKey()] = append(byHost[p.URL.HostKey()], p)
		}
	}
	var found []Suspect
	for _, host := range slices.Sorted(maps.Keys(byHost)) {
		some := byHost[host]
		slices.SortFunc(some, func(a, b Page) int { return cmp.Compare(a.ID, b.ID) })
		var suspects []Suspect
		var empty []Pattern
		for _, f := range familiesOf(some) {
			s, ok := f.suspect(host)
			if !ok {
				continue
			}
			empty = append(empty, s.Pattern)
			if len(f.pages) >= onwardRun && s.isNested() {
				suspects = append(suspects, s)
			}
		}
		for i := range suspects {
			suspects[i].others = empty
		}
		found = append(found, suspects...)
	}
	return found
}

// suspect examines the last pages of a family.
func (f family) suspect(host string) (Suspect, bool) {
	run := onwardRun
	if isDates(f.form) {
		run = dateRun
	}
	last := f.pages[max(0, len(f.pages)-run):]
	common := commonPhrases(last)
	s := Suspect{Pattern: Pattern{Kind: KindOnward, Host: host, Path: f.form, Common: common}, finders: make(map[int64]int64, len(f.pages))}
	empty := 0
	for _, p := range last {
		s.Pages = append(s.Pages, p.ID)
		if p.isEmpty(common) {
			empty++
			s.said = max(s.said, min(p.Said.Without(common), mostSaid))
		}
	}
	s.Pattern.Everywhere = hasName(f.form)
	if isNumbered(f.form) {
		s.numbers = make(map[int]bool, len(f.pages))
	}
	for _, p := range f.pages {
		s.finders[p.ID] = p.Finder
		s.number(p.URL)
		s.Pattern.Everywhere = s.Pattern.Everywhere && p.isEmpty(common)
	}
	return s, float64(empty) >= minEmpty*float64(len(last))
}

// commonPhrases are the phrases that commonShare of the pages say, among pages with
// enough samples.
func commonPhrases(pages []Page) []uint32 {
	said := map[uint32]int{}
	for _, p := range pages {
		for _, phrase := range p.Said.Sample {
			said[phrase]++
		}
	}
	var common []uint32
	for _, phrase := range slices.Sorted(maps.Keys(said)) {
		read := 0
		for _, p := range pages {
			if p.Said.Reads(phrase) {
				read++
			}
		}
		if said[phrase] >= leastCommon && float64(said[phrase]) >= commonShare*float64(read) {
			common = append(common, phrase)
		}
	}
	return common
}

// Judge decides whether the pages are a trap, by all links of Pages.
func (s Suspect) Judge(links []Link) (Finding, bool) {
	menu := s.menu(links)
	leads := map[int64]bool{}
	pattern := s.Pattern
	onward, elsewhere, kin, known := 0, 0, 0, 0
	for _, l := range links {
		ours := s.Pattern.Covers(l.URL)
		switch {
		case l.From == l.To:
		case l.Finder == l.From && ours:
			onward++
			leads[l.From] = true
			s.number(l.URL)
		case l.Finder == l.From:
			switch form := s.emptyForm(l.URL); {
			case form == nil:
				elsewhere++
			case !pattern.isBeside(l.URL):
				pattern.Beside = append(pattern.Beside, form)
			}
		case ours:
			kin++
		case !menu[l.To]:
			known++
		}
	}
	n := float64(len(s.Pages))
	switch {
	case float64(onward) < minLeads*n,
		!isDates(s.Pattern.Path) && float64(len(leads)) < minLeads*n,
		float64(elsewhere) > mostElsewhere*float64(onward+elsewhere),
		known > onward+kin,
		s.isCounted(float64(onward) / n):
		return Finding{}, false
	}
	return Finding{
		Pattern: pattern, Reason: ReasonOnward,
		Detail: fmt.Sprintf("%d pages, of which none says more than %d phrases of its own, led to %d new ones of the kind and to %d others", len(s.Pages), s.said, onward, elsewhere),
	}, true
}

// number records the number of an address of a numbered form.
func (s Suspect) number(u urlkey.URL) {
	if s.numbers == nil {
		return
	}
	target := u.Target()
	from := strings.IndexFunc(target, func(r rune) bool { return r >= '0' && r <= '9' })
	if from < 0 {
		return
	}
	digits := target[from:]
	if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = digits[:end]
	}
	if n, err := strconv.Atoi(digits); err == nil {
		s.numbers[n] = true
	}
}

// isCounted reports whether a form may well be the numbered items of a site, which end:
// a tree or a web of pages that fill the numbers from the lowest on, or a chain that is
// still short. onward is the mean number of new pages to which each leads.
func (s Suspect) isCounted(onward float64) bool {
	switch {
	case s.numbers == nil:
		return false
	case onward < branching:
		return len(s.finders) < chainRun
	}
	highest := 0
	for n := range s.numbers {
		highest = max(highest, n)
	}
	return len(s.numbers) >= highest/filled
}

// emptyForm is the form of empty pages of the host that a URL has, nil for none.
func (s Suspect) emptyForm(u urlkey.URL) []string {
	if u.HostKey() != s.Pattern.Host {
		return nil
	}
	own := formOf(u) // once: a host may have hundreds of forms
	for _, p := range s.others {
		if isDates(p.Path) && hasForm(u, p.Path) || !isDates(p.Path) && fits(own, p.Path) {
			return p.Path
		}
	}
	return nil
}

// menu are the pages that most of the pages link to.
func (s Suspect) menu(links []Link) map[int64]bool {
	from := map[int64]int{}
	pages := map[int64]bool{}
	for _, l := range links {
		from[l.To]++
		pages[l.From] = true
	}
	maps.DeleteFunc(from, func(_ int64, n int) bool { return float64(n) < menuShare*float64(len(pages)) })
	menu := make(map[int64]bool, len(from))
	for to := range from {
		menu[to] = true
	}
	return menu
}

// isNested reports whether enough of the pages were found on a page of the form that
// was found on one.
func (s Suspect) isNested() bool {
	least := minNested
	if isDates(s.Pattern.Path) {
		least = minDateNested
	}
	nested := 0
	for _, found := range s.finders {
		finder, ours := s.finders[found]
		if _, again := s.finders[finder]; ours && again {
			nested++
		}
	}
	return nested >= least
}
