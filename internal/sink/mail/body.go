package mail

import (
	"html/template"
	"strings"
)

// plain writes the text of a mail, for clients that show no HTML.
func plain(l letter) string {
	var b strings.Builder
	line := func(parts ...string) {
		for _, p := range parts {
			b.WriteString(p)
		}
		b.WriteByte('\n')
	}
	if l.intro != "" {
		line(l.intro)
		line()
	}
	for i, c := range l.changes {
		if i > 0 {
			line()
		}
		line(c.Heading)
		if c.URL != "" {
			line(c.URL)
		}
		line(c.about())
		if len(c.Removed)+len(c.Added) > 0 {
			line()
		}
		for _, r := range c.Removed {
			line("- ", r)
		}
		for _, a := range c.Added {
			line("+ ", a)
		}
		if c.Cut {
			line("… and more.")
		}
	}
	if l.outro != "" {
		line()
		line(l.outro)
	}
	line()
	line("-- ")
	line("recrawl, crawl ", clean(l.crawl, maxTitle))
	return b.String()
}

// about says when, how much and why, in one line.
func (c change) about() string {
	about := "Seen " + c.When
	for _, more := range []string{c.Size, c.Detail} {
		if more != "" {
			about += ". " + more
		}
	}
	return about + "."
}

// markup writes the HTML of a mail. It loads nothing, and has no script and no form.
func markup(l letter) (string, error) {
	var b strings.Builder
	err := page.Execute(&b, map[string]any{
		"Intro": l.intro, "Changes": l.changes, "Outro": l.outro, "Crawl": clean(l.crawl, maxTitle),
	})
	return b.String(), err
}

var page = template.Must(template.New("mail").Funcs(template.FuncMap{"about": change.about}).Parse(`<!DOCTYPE html>
<html><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"></head>
<body style="font-family:sans-serif;line-height:1.4">
{{with .Intro}}<p>{{.}}</p>
{{end}}{{range .Changes}}<h3 style="margin:1.2em 0 .2em">{{.Heading}}</h3>
{{if .Link}}<p style="margin:0"><a href="{{.Link}}" rel="noreferrer">{{.URL}}</a></p>
{{else if .URL}}<p style="margin:0">{{.URL}}</p>
{{end}}<p style="margin:0">{{about .}}</p>
{{if or .Removed .Added}}<div style="font-family:monospace;border-left:3px solid #888;margin:.5em 0;padding-left:.6em">
{{range .Removed}}<div dir="auto"><del style="color:#b00020">&minus; {{.}}</del></div>
{{end}}{{range .Added}}<div dir="auto"><ins style="color:#0a7d28;text-decoration:none">+ {{.}}</ins></div>
{{end}}</div>
{{end}}{{if .Cut}}<p style="margin:0">&hellip; and more.</p>
{{end}}{{end}}{{with .Outro}}<p>{{.}}</p>
{{end}}<p style="color:#666">recrawl, crawl {{.Crawl}}</p>
</body></html>
`))
