package report

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/polite"
)

// Markdown is a format of evidence only.
const Markdown Format = "markdown"

// Evidence writes the requests to a host, for its owner.
func (r Reporter) Evidence(ctx context.Context, q EvidenceQuery) error {
	e, err := r.EvidenceOf(ctx, q)
	if err != nil {
		return err
	}
	if r.Format == JSON {
		return writeJSON(r.Out, e)
	}
	p := &page{out: r.Out, markdown: r.Format == Markdown}
	e.write(p)
	return p.err
}

// WriteMarkdown writes it for a mail or an issue.
func (e Evidence) WriteMarkdown(out io.Writer) error {
	p := &page{out: out, markdown: true}
	e.write(p)
	return p.err
}

func (e Evidence) write(p *page) {
	p.heading(1, "Requests to "+e.Host)
	p.paragraph(fmt.Sprintf("From %s to %s, in UTC.", utc(e.From), utc(e.Until)))
	e.writeCrawls(p)
	e.writeRequests(p)
	e.writeRefusals(p)
	e.writeRobots(p)
	p.heading(2, "What is not in here")
	p.list(e.Missing)
}

func (e Evidence) writeCrawls(p *page) {
	p.heading(2, "Who asks")
	rows := [][]string{{"Crawl", "State", "Product token", "Contact", "Pages here", "Delay"}}
	for _, c := range e.Crawls {
		rows = append(rows, []string{c.Crawl, c.State, c.Agent, some(string(c.Contact)), strconv.FormatInt(c.Pages, 10), c.Delay})
	}
	p.table(rows)
	p.paragraph(e.Now.Words())
}

// Words says how the host is treated now.
func (n EvidenceNow) Words() string {
	text := "Now: " + some(string(n.DelayReason)) + "."
	if n.Blocked {
		text += " The operator has blocked the host: nothing is requested."
	}
	if n.BackoffReason != "" {
		text += fmt.Sprintf(" The last back-off is until %s: %s.", utc(n.BackoffUntil), n.BackoffReason)
	}
	return text
}

func (e Evidence) writeRequests(p *page) {
	p.heading(2, "Requests")
	f := e.Requests
	switch {
	case f == nil:
		p.paragraph("They were not counted; see below.")
		return
	case f.Total == 0:
		p.paragraph("There were none.")
		return
	}
	p.paragraph(f.Words())
	rows := [][]string{{"Hour", "Requests", "429 and 503", "No answer"}}
	for _, h := range f.Hours {
		rows = append(rows, []string{
			time.Time(h.Hour).Format("2006-01-02 15:04"), strconv.Itoa(h.Requests), strconv.Itoa(h.Refused), strconv.Itoa(h.Failed),
		})
	}
	p.table(rows)
}

// Words puts the requests into a few sentences.
func (f EvidenceRequests) Words() string {
	text := plural(f.Total, "request") + "."
	if f.SmallestGap != nil {
		text += fmt.Sprintf(" Between the end of one and the start of the next: at least %s (at %s), in the median %s.",
			gapLength(*f.SmallestGap), utc(f.SmallestAt), gapLength(*f.MedianGap))
	}
	var answers []string
	for _, a := range f.Answers {
		answers = append(answers, fmt.Sprintf("%s: %d", a.Answer, a.Requests))
	}
	return text + " Answers: " + strings.Join(answers, ", ") + "."
}

// gapLength writes a gap for people, never longer than it was.
func gapLength(d crawl.Duration) string { return polite.Rounded(d.Std().Truncate(time.Millisecond)) }

func (e Evidence) writeRefusals(p *page) {
	if e.Requests == nil || e.Requests.Refused == 0 {
		return
	}
	p.heading(2, "What was refused, and what we did then")
	if n := len(e.Requests.Refusals); n < e.Requests.Refused {
		p.paragraph(fmt.Sprintf("The last %d of %d.", n, e.Requests.Refused))
	}
	rows := [][]string{{"At", "Answer", "Retry-After", "Next request after", "URL"}}
	for _, r := range e.Requests.Refusals {
		rows = append(rows, []string{utc(r.At), strconv.Itoa(r.Status), spanOr(r.RetryAfter, "none"), spanOr(r.Quiet, "none since"), r.URL})
	}
	p.table(rows)
}

func spanOr(d *crawl.Duration, none string) string {
	if d == nil {
		return none
	}
	return polite.Rounded(d.Std())
}

func (e Evidence) writeRobots(p *page) {
	p.heading(2, "What robots.txt said")
	if len(e.Robots) == 0 {
		p.paragraph("It has not been fetched.")
	}
	if e.RobotsUnknown > 0 {
		p.paragraph(fmt.Sprintf("Of the time of %s it is not known what it said.", plural(e.RobotsUnknown, "request")))
	}
	for _, r := range e.Robots {
		p.heading(3, fmt.Sprintf("%s/robots.txt, %s", r.Origin, r.During()))
		p.paragraph(r.Words())
		if r.Forbidden > 0 {
			rows := [][]string{{"At", "URL", "Why it is forbidden"}}
			for _, a := range r.Against {
				rows = append(rows, []string{utc(a.At), a.URL, a.Reason})
			}
			p.table(rows)
		}
		if r.Text != "" {
			p.verbatim(r.Text)
		}
	}
}

// During says when the file had these contents.
func (r EvidenceRobots) During() string {
	text := "from " + utc(r.Since)
	if time.Time(r.Since).IsZero() {
		text = "from a time that is not known"
	}
	if time.Time(r.Until).IsZero() {
		return text + " on"
	}
	return text + " to " + utc(r.Until)
}

// Words says how the file decides, and its verdicts on the requests.
func (r EvidenceRobots) Words() string {
	text := "Everything was allowed: there was no such file"
	switch r.State {
	case "parsed":
		text = "These rules were in force"
	case "unreachable":
		text = "Everything was forbidden: the file could not be had"
	case "redirected":
		text = "A redirect is being followed"
	}
	if r.Problem != "" {
		text += " (" + string(r.Problem) + ")"
	} else if r.Status != 0 {
		text += fmt.Sprintf(" (HTTP %d)", r.Status)
	}
	if r.CrawlDelay > 0 {
		text += fmt.Sprintf(", with a Crawl-delay of %s", r.CrawlDelay)
	}
	text += "."
	if r.Allowed+r.Forbidden > 0 {
		text += fmt.Sprintf(" Of the requests of this time it allows %d and forbids %d.", r.Allowed, r.Forbidden)
	}
	if r.Cut {
		text += " Only the begin of the file is shown."
	}
	return text
}

// utc writes a time for people.
func utc(s stamp) string {
	if time.Time(s).IsZero() {
		return "-"
	}
	return time.Time(s).UTC().Format("2006-01-02 15:04:05")
}

// page writes headings, paragraphs and tables, as text or as Markdown.
type page struct {
	out      io.Writer
	markdown bool
	err      error
}

func (p *page) print(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format, args...)
	}
}

func (p *page) heading(level int, text string) {
	text = crawl.Clean(text, 1000)
	if p.markdown {
		p.print("%s %s\n\n", strings.Repeat("#", level), escapeMarkdown(text))
		return
	}
	p.print("%s\n", text)
}

func (p *page) paragraph(text string) {
	text = crawl.Clean(text, 10_000)
	if p.markdown {
		text = escapeMarkdown(text)
	}
	p.print("%s\n\n", text)
}

func (p *page) list(items []string) {
	for _, item := range items {
		if item = crawl.Clean(item, 10_000); p.markdown {
			item = escapeMarkdown(item)
		}
		p.print("* %s\n", item)
	}
}

// table writes rows, the header first.
func (p *page) table(rows [][]string) {
	if !p.markdown {
		t := newTable(p.out)
		for _, row := range rows {
			t.row(row...)
		}
		if err := t.flush(); p.err == nil {
			p.err = err
		}
		p.print("\n")
		return
	}
	for i, row := range rows {
		cells := make([]string, len(row))
		for j, cell := range row {
			cells[j] = escapeMarkdown(crawl.Clean(cell, 2000))
		}
		p.print("| %s |\n", strings.Join(cells, " | "))
		if i == 0 {
			p.print("|%s\n", strings.Repeat(" --- |", len(row)))
		}
	}
	p.print("\n")
}

// verbatim writes a site's text unchanged.
func (p *page) verbatim(text string) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	for line := range strings.Lines(strings.Map(crawl.Visible, text)) {
		p.print("    %s\n", strings.TrimRight(line, "\n"))
	}
	p.print("\n")
}

// escapeMarkdown keeps a site's text from being read as Markdown or HTML.
func escapeMarkdown(text string) string { return markdownEscapes.Replace(text) }

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", "|", `\|`, "#", `\#`, "&", "&amp;")
