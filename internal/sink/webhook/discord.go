package webhook

import (
	"strings"
	"time"
)

// discordMessage is a message for Discord that mentions nobody.
type discordMessage struct {
	AllowedMentions discordMentions `json:"allowed_mentions"`
	Embeds          []discordEmbed  `json:"embeds"`
}

type discordMentions struct {
	Parse []string `json:"parse"`
}

// discordEmbed has the name of the page as its author, which is not read as Markdown.
type discordEmbed struct {
	Author      *discordAuthor `json:"author,omitempty"`
	Title       string         `json:"title"`
	Description string         `json:"description,omitempty"`
	Fields      []discordField `json:"fields,omitempty"`
	Timestamp   string         `json:"timestamp,omitempty"`
}

type discordAuthor struct {
	Name string `json:"name"`
	URL  string `json:"url,omitempty"`
}

type discordField struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Discord's limits of an embed: its description, and all of its text.
const (
	maxDescription = 4096
	maxEmbed       = 6000
)

func discordEvent(m message, lines int) ([]byte, bool) {
	e := discordEmbed{Title: m.headline, Description: fenced(m.diff(lines)), Timestamp: discordTime(m.at)}
	if name := m.name(); name != "" {
		e.Author = &discordAuthor{Name: name, URL: link(m.url)}
	}
	for _, f := range m.facts {
		e.Fields = append(e.Fields, discordField{Name: f.name, Value: code(f.value, maxValue)})
	}
	return e.body()
}

func discordDigest(l list, items int) ([]byte, bool) {
	return discordEmbed{Title: l.headline, Description: markdownItems(l, items), Timestamp: discordTime(l.to)}.body()
}

func discordTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// body returns the message, and whether Discord takes it.
func (e discordEmbed) body() ([]byte, bool) {
	all := units(e.Title) + units(e.Description)
	if e.Author != nil {
		all += units(e.Author.Name)
	}
	for _, f := range e.Fields {
		all += units(f.Name) + units(f.Value)
	}
	fits := all <= maxEmbed && units(e.Description) <= maxDescription
	return encode(discordMessage{AllowedMentions: discordMentions{Parse: []string{}}, Embeds: []discordEmbed{e}}), fits
}

// fenced writes a difference as a block of code in Markdown. No line of it can end the
// block: each has a sign before it.
func fenced(diff string) string {
	if diff == "" {
		return ""
	}
	return "```diff\n" + strings.ReplaceAll(diff, backtick, lookalike) + "\n```"
}
