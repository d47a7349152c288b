package webhook

import "strings"

// markdownEvent writes a document in Markdown.
func markdownEvent(m message, lines int) ([]byte, bool) {
	var b strings.Builder
	b.WriteString("**" + markdownWords(m.headline) + "**")
	if page := markdownPage(m); page != "" {
		b.WriteString(": " + page)
	}
	b.WriteString("\n")
	if len(m.facts) > 0 {
		b.WriteString("\n")
	}
	for _, f := range m.facts {
		b.WriteString("- " + f.name + ": " + code(f.value, maxValue) + "\n")
	}
	if diff := fenced(m.diff(lines)); diff != "" {
		b.WriteString("\n" + diff + "\n")
	}
	return []byte(b.String()), true
}

func markdownDigest(l list, items int) ([]byte, bool) {
	return []byte("**" + markdownWords(l.headline) + "**\n\n" + markdownItems(l, items) + "\n"), true
}

// markdownItems writes the first pages of a digest, one a line.
func markdownItems(l list, items int) string {
	var lines []string
	for _, m := range l.items[:items] {
		line := "- " + markdownWords(m.headline)
		if page := markdownPage(m); page != "" {
			line += ": " + page
		}
		if w := m.words(); w != "" {
			line += " (" + w + ")"
		}
		lines = append(lines, line)
	}
	if rest := l.rest(items); rest != "" {
		lines = append(lines, "- "+rest)
	}
	return strings.Join(lines, "\n")
}

// markdownPage writes the page's name, with a link if there is one, "" without a page.
func markdownPage(m message) string {
	name := code(m.name(), maxTitle)
	if to := link(m.url); to != "" {
		return name + " [open](" + to + ")"
	}
	return name
}

// markdownWords writes a headline: our words, and names of crawls and sinks, which may have
// _.
func markdownWords(s string) string { return strings.ReplaceAll(s, "_", `\_`) }
