package extract

import (
	"strings"

	"golang.org/x/net/html"

	"recrawl/internal/crawl"
	"recrawl/internal/robots/directive"
	"recrawl/internal/robots/reserve"
)

// maxRobots bounds the bytes that a page says to one crawler in <meta> elements.
const maxRobots = 64 << 10

// Meta holds the directives of a <meta> element with the crawlers that it names, which may
// include names that are not crawlers'.
type Meta struct {
	Name, Content string
	// Tag: the element stands for an X-Robots-Tag header, and its content has the form of
	// one.
	Tag bool
}

// Robots returns the page's directives for a crawler by its product token: those for
// everybody, and those for that crawler. Beyond 64 KiB a page's directives are not read,
// and the result is Cut.
func (p Page) Robots(agent string) directive.Directives {
	var d directive.Directives
	room := maxRobots
	for _, m := range p.Metas {
		if !m.Tag && !directive.Names(m.Name, agent) {
			continue
		}
		if room -= len(m.Content); room < 0 {
			d.Cut = true
			return d
		}
		if m.Tag {
			d = d.With(directive.ParseTags([]string{m.Content}, agent))
		} else {
			d = d.With(directive.Parse(m.Content))
		}
	}
	return d
}

// Reserved returns what the page's elements reserve from a crawler by its product token:
// its directives, and the first tdm-policy with every tdm-reservation.
func (p Page) Reserved(agent string) []crawl.Reservation {
	var tdm []string
	policy := ""
	for _, m := range p.Metas {
		switch name := strings.TrimSpace(m.Name); {
		case m.Tag:
		case strings.EqualFold(name, "tdm-reservation"):
			tdm = append(tdm, m.Content)
		case strings.EqualFold(name, "tdm-policy") && policy == "":
			policy = m.Content
		}
	}
	return reserve.FromElements(p.Robots(agent), tdm, policy)
}

// directives keeps a <meta> that may be for crawlers. Which names are crawlers' cannot be
// known; Robots asks for its own. Some pages put the name into another attribute than
// usual.
func (c *collector) directives(attributes []html.Attribute, content string) {
	if content == "" {
		return
	}
	for _, key := range []string{"name", "property"} {
		if name, ok := attribute(attributes, key); ok {
			c.metas = append(c.metas, Meta{Name: name, Content: content})
		}
	}
	equiv, _ := attribute(attributes, "http-equiv")
	switch strings.ToLower(strings.TrimSpace(equiv)) {
	case "robots":
		c.metas = append(c.metas, Meta{Name: equiv, Content: content})
	case "x-robots-tag":
		c.metas = append(c.metas, Meta{Content: content, Tag: true})
	}
}
