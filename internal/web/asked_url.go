package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"recrawl/internal/report"
	"recrawl/internal/urlkey"
)

// urlMore holds the parts of the view of a URL that is no page, for people only.
type urlMore struct {
	Asked string
	// Verdict says what the rules say now.
	Verdict string
	Pages   string // the address of the list of pages with such URLs, "" if there can be none
}

// urlView answers what a crawl has of a URL. People are redirected to its page.
func urlView(ctx context.Context, s *Server, r *http.Request) (answer, error) {
	name, text := value(r, "crawl"), askedOf(r).text("url")
	if text == "" {
		return answer{}, fmt.Errorf("no URL %w: give one as url=https://example.com/page", errBad)
	}
	if otherScheme(text) {
		found, err := s.Report.AskOther(ctx, name, text)
		if err != nil {
			return answer{}, err
		}
		more := urlMore{Asked: text, Verdict: capital(found.Today.Words()) + "."}
		return answer{Title: "A URL of " + name, Crawl: name, Now: found.Now, Data: found, More: more}, nil
	}
	u, found, err := s.askURL(ctx, name, text)
	if err != nil {
		return answer{}, err
	}
	a := answer{Title: "A URL of " + name, Crawl: name, Now: found.Now, Data: found}
	if found.Page != 0 {
		a.To = at(name, "pages", strconv.FormatInt(found.Page, 10))
		return a, nil
	}
	a.More = urlMore{Asked: text, Verdict: capital(found.Today.Words()) + ".", Pages: at(name, "pages") + "?prefix=" + url.QueryEscape(folderOf(u))}
	return a, nil
}

// schemeRE matches what may be the scheme of a URL, or a host before its port.
var schemeRE = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):(.*)`)

// portRE matches what follows a host: a port, and perhaps a path.
var portRE = regexp.MustCompile(`^[0-9]*([/?#]|$)`)

// otherScheme reports whether a URL is neither http nor https.
func otherScheme(text string) bool {
	m := schemeRE.FindStringSubmatch(text)
	if m == nil || strings.EqualFold(m[1], "http") || strings.EqualFold(m[1], "https") {
		return false
	}
	return strings.HasPrefix(m[2], "//") || !portRE.MatchString(m[2])
}

// askURL asks for a URL. Without a scheme it means https, unless only the http URL is a
// page.
func (s *Server) askURL(ctx context.Context, crawlName, text string) (urlkey.URL, report.URLAnswer, error) {
	if strings.Contains(text, "://") {
		return s.askWhole(ctx, crawlName, text)
	}
	u, found, err := s.askWhole(ctx, crawlName, "https://"+text)
	if err != nil || found.Page != 0 {
		return u, found, err
	}
	if plain, page, err := s.askWhole(ctx, crawlName, "http://"+text); err != nil || page.Page != 0 {
		return plain, page, err
	}
	return u, found, nil
}

func (s *Server) askWhole(ctx context.Context, crawlName, text string) (urlkey.URL, report.URLAnswer, error) {
	u, err := urlkey.Canonical(text)
	if err != nil {
		return u, report.URLAnswer{}, fmt.Errorf("url %w: %w", errBad, err)
	}
	found, err := s.Report.AskURL(ctx, crawlName, u, s.Judge)
	return u, found, err
}

// folderOf is the part of a URL up to the last slash of its path.
func folderOf(u urlkey.URL) string {
	path := u.Path()
	return u.Origin() + path[:strings.LastIndex(path, "/")+1]
}
