package extract

import "strings"

// maxDirectives bounds the robots directives that are kept of one page.
const maxDirectives = 32

// Directive is what a page asks of one crawler, or of all.
type Directive struct {
	// Agent is a product token in lower case, or "robots" for everybody.
	Agent             string
	NoIndex, NoFollow bool
}

// Robots returns what the page asks of a crawler by its product token: what it
// asks of everybody, and what it asks of that one besides.
func (p Page) Robots(agent string) (noIndex, noFollow bool) {
	agent = strings.ToLower(agent)
	for _, d := range p.Directives {
		if d.Agent == "robots" || d.Agent == agent {
			noIndex, noFollow = noIndex || d.NoIndex, noFollow || d.NoFollow
		}
	}
	return noIndex, noFollow
}

// directive keeps a <meta name> whose content has a robots directive. Which
// names are crawlers' cannot be known; Robots asks for its own.
func (c *collector) directive(name, content string) {
	d := Directive{Agent: strings.ToLower(strings.TrimSpace(name))}
	d.read(content)
	if (d.NoIndex || d.NoFollow) && len(d.Agent) <= 64 && len(c.directives) < maxDirectives {
		c.directives = append(c.directives, d)
	}
}

// read reads a list of directives, separated by commas or space.
func (d *Directive) read(list string) {
	words := strings.FieldsFunc(strings.ToLower(list), func(r rune) bool { return strings.ContainsRune(", \t\r\n\f", r) })
	for _, word := range words {
		switch word {
		case "noindex":
			d.NoIndex = true
		case "nofollow":
			d.NoFollow = true
		case "none":
			d.NoIndex, d.NoFollow = true, true
		}
	}
}

// RobotsTags reads X-Robots-Tag headers for a crawler's product token. Each may
// begin with the token that it is for ("otherbot: noindex").
func RobotsTags(headers []string, agent string) (noIndex, noFollow bool) {
	for _, header := range headers {
		target, list := tagTarget(header)
		if target != "" && !strings.EqualFold(target, agent) {
			continue
		}
		var d Directive
		d.read(list)
		noIndex, noFollow = noIndex || d.NoIndex, noFollow || d.NoFollow
	}
	return noIndex, noFollow
}

// tagTarget splits the token that an X-Robots-Tag is for from its directives,
// some of which have a colon of their own.
func tagTarget(header string) (target, list string) {
	name, rest, ok := strings.Cut(header, ":")
	name = strings.TrimSpace(name)
	if !ok || strings.ContainsAny(name, ", ") || valued[strings.ToLower(name)] {
		return "", header
	}
	return name, rest
}

// valued are the directives that have a value.
var valued = set("unavailable_after max-snippet max-image-preview max-video-preview")
