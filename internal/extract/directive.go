package extract

import (
	"strings"

	"recrawl/internal/exclude"
)

const (
	// maxAgents bounds the crawlers whose directives are kept of one page.
	maxAgents = 32
	// maxAgent bounds the name of one.
	maxAgent = 64
	// everybody is the name of the <meta> that speaks to all crawlers.
	everybody = "robots"
)

// Robots returns what the page asks of a crawler by its product token: what it
// asks of everybody, and what it asks of that one besides.
func (p Page) Robots(agent string) exclude.Directives {
	return p.Directives[everybody].With(p.Directives[strings.ToLower(agent)])
}

// directive keeps a <meta name> whose content has a robots directive. Which
// names are crawlers' cannot be known; Robots asks for its own.
func (c *collector) directive(name, content string) {
	said := exclude.Parse(content)
	agent := strings.ToLower(strings.TrimSpace(name))
	_, known := c.directives[agent]
	// No flood of names keeps out what is said to everybody.
	room := known || agent == everybody || len(c.directives) < maxAgents
	if said == (exclude.Directives{}) || len(agent) > maxAgent || !room {
		return
	}
	if c.directives == nil {
		c.directives = map[string]exclude.Directives{}
	}
	c.directives[agent] = c.directives[agent].With(said)
}
