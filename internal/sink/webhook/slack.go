package webhook

import "strings"

// slackMessage is a message for Slack. Its blocks are rich text: a text in them is never
// interpreted. Servers that speak Slack's language and know no blocks (Mattermost,
// Rocket.Chat) show Text, and notifications do.
type slackMessage struct {
	Text        string         `json:"text"`
	UnfurlLinks bool           `json:"unfurl_links"`
	UnfurlMedia bool           `json:"unfurl_media"`
	Blocks      []slackElement `json:"blocks"`
}

type slackElement struct {
	Type     string         `json:"type"`
	Text     string         `json:"text,omitempty"`
	URL      string         `json:"url,omitempty"`
	Style    any            `json:"style,omitempty"` // a slackStyle of a text, a word of a list
	Elements []slackElement `json:"elements,omitempty"`
}

type slackStyle struct {
	Bold bool `json:"bold,omitempty"`
}

// maxSlack bounds the text that Slack takes in a part of a message.
const maxSlack = 3000

func slackText(s string) slackElement { return slackElement{Type: "text", Text: s} }

func slackBold(s string) slackElement {
	return slackElement{Type: "text", Text: s, Style: slackStyle{Bold: true}}
}

// slackPage writes the page's name, as a link if there is one.
func slackPage(m message) slackElement {
	if to := link(m.url); to != "" {
		return slackElement{Type: "link", URL: to, Text: m.name()}
	}
	return slackText(m.name())
}

// slackEscape escapes the three special characters of Slack's language, for Text.
var slackEscape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// slackLine writes a message on one line, for Text.
func slackLine(m message) string {
	parts := []string{slackEscape.Replace(m.headline) + ":"}
	if name := m.name(); name != "" {
		parts = append(parts, slackEscape.Replace(code(name, maxTitle)))
	}
	if to := link(m.url); to != "" {
		parts = append(parts, "<"+slackEscape.Replace(to)+">")
	}
	if w := m.words(); w != "" {
		parts = append(parts, "("+w+")")
	}
	if len(parts) == 1 {
		return strings.TrimSuffix(parts[0], ":")
	}
	return strings.Join(parts, " ")
}

func slackEvent(m message, lines int) ([]byte, bool) {
	section := []slackElement{slackBold(m.headline)}
	if m.name() != "" {
		section = append(section, slackText("\n"), slackPage(m))
	}
	for _, f := range m.facts {
		section = append(section, slackText("\n"+f.name+": "+plain(f.value, maxValue)))
	}
	parts := []slackElement{{Type: "rich_text_section", Elements: section}}
	diff := m.diff(lines)
	if diff != "" {
		parts = append(parts, slackElement{Type: "rich_text_preformatted", Elements: []slackElement{slackText(diff)}})
	}
	return slackBody(slackLine(m), parts), units(diff) <= maxSlack
}

func slackDigest(l list, items int) ([]byte, bool) {
	var bullets []slackElement
	for _, m := range l.items[:items] {
		bullet := []slackElement{slackText(m.headline)}
		if m.name() != "" { // Slack refuses a message that has an empty text
			bullet = []slackElement{slackText(m.headline + ": "), slackPage(m)}
		}
		if w := m.words(); w != "" {
			bullet = append(bullet, slackText(" ("+w+")"))
		}
		bullets = append(bullets, slackElement{Type: "rich_text_section", Elements: bullet})
	}
	parts := []slackElement{{Type: "rich_text_section", Elements: []slackElement{slackBold(l.headline)}}}
	if len(bullets) > 0 {
		parts = append(parts, slackBullets(bullets))
	}
	if rest := l.rest(items); rest != "" {
		parts = append(parts, slackElement{Type: "rich_text_section", Elements: []slackElement{slackText(rest)}})
	}
	return slackBody(slackEscape.Replace(l.headline), parts), true
}

func slackBullets(bullets []slackElement) slackElement {
	return slackElement{Type: "rich_text_list", Elements: bullets, Style: "bullet"}
}

func slackBody(text string, parts []slackElement) []byte {
	return encode(slackMessage{Text: text, Blocks: []slackElement{{Type: "rich_text", Elements: parts}}})
}
