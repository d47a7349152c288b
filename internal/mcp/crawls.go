package mcp

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

type crawlsAsked struct {
	Offset int `json:"offset,omitempty" jsonschema:"How many crawls to leave out: next_offset of the answer before."`
}

// crawlsListed bounds the crawls in an answer: finding out how fresh one is takes reading
// some hundred pages.
const crawlsListed = 50

func (s *Server) listCrawls(ctx context.Context, in crawlsAsked) (*answer, error) {
	if err := notNegative("offset", in.Offset); err != nil {
		return nil, err
	}
	crawls, more, err := s.Reports.CollectionsOf(ctx, in.Offset, crawlsListed)
	if err != nil {
		return nil, err
	}
	a, shown := newAnswer(), 0
	for _, c := range crawls {
		ours := fmt.Sprintf("%s (%s): %d pages with a copy, %d versions, since %s", c.Name, c.State, c.Copies, c.Versions, c.Since.UTC().Format("2006-01-02"))
		if fresh := c.Words(); fresh != "" {
			ours += "; " + fresh
		}
		if !a.item(in.Offset+shown+1, ours+"; it began with "+someOf(c.Seeds), "") {
			break
		}
		shown++
	}
	a.fact("crawls", "%d in this answer", shown)
	if more || shown < len(crawls) {
		a.next(strconv.Itoa(in.Offset + shown))
	} else {
		a.next("")
	}
	return a, nil
}

// seedsShown is the number of seeds that show what a crawl is about.
const seedsShown = 5

// someOf names the first seeds. They are the operator's words, not a site's.
func someOf(seeds []string) string {
	if len(seeds) == 0 {
		return "an imported list"
	}
	var some []string
	for _, s := range seeds[:min(seedsShown, len(seeds))] {
		some = append(some, oneLine(s, 200))
	}
	text := strings.Join(some, ", ")
	if left := len(seeds) - len(some); left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text
}
