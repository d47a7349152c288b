package webhook

import (
	"errors"
	"net/url"
	"regexp"
	"strings"

	"recrawl/internal/feed"
	"recrawl/internal/sink"
)

// ntfyMessage is a message for ntfy as JSON: sent to the server's root, with the topic
// inside. So no text of a page is in a header.
type ntfyMessage struct {
	Topic   string `json:"topic"`
	Title   string `json:"title"`
	Message string `json:"message"`
	Click   string `json:"click,omitempty"`
}

// maxNtfy bounds a message, in bytes: ntfy turns longer ones into files.
const maxNtfy = 4096

var ntfyTopic = regexp.MustCompile(`^/([-_A-Za-z0-9]{1,64})/?$`)

func checkTopic(to *url.URL) error {
	if !ntfyTopic.MatchString(to.Path) {
		return errors.New("for ntfy, write the address of a topic, such as https://ntfy.sh/mytopic")
	}
	return nil
}

func topicOf(to *url.URL) string {
	if m := ntfyTopic.FindStringSubmatch(to.Path); m != nil {
		return m[1]
	}
	return ""
}

// ntfyTarget returns the root of the server. The query stays: it may hold ntfy's auth.
func ntfyTarget(to *url.URL) *url.URL {
	root := *to
	root.Path, root.RawPath = "/", ""
	return &root
}

func ntfyEvent(to *url.URL, e feed.Event) ([]byte, error) {
	m := messageOf(e)
	return largest(len(m.lines), func(n int) ([]byte, bool) {
		var lines []string
		if name := m.name(); name != "" {
			lines = append(lines, inert(name))
		}
		for _, f := range m.facts {
			lines = append(lines, f.name+": "+inert(plain(f.value, maxValue)))
		}
		if diff := m.diff(n); diff != "" {
			lines = append(lines, inert(diff))
		}
		return ntfyBody(to, m.headline, lines, link(m.url))
	})
}

func ntfyDigest(to *url.URL, d sink.Digest) ([]byte, error) {
	l := listOf(few(d))
	return largest(len(l.items), func(n int) ([]byte, bool) {
		var lines []string
		for _, m := range l.items[:n] {
			line := m.headline
			if name := m.name(); name != "" {
				line += ": " + inert(name)
			}
			if w := m.words(); w != "" {
				line += " (" + w + ")"
			}
			lines = append(lines, line)
		}
		if rest := l.rest(n); rest != "" {
			lines = append(lines, rest)
		}
		return ntfyBody(to, l.headline, lines, "")
	})
}

func ntfyBody(to *url.URL, title string, lines []string, click string) ([]byte, bool) {
	text := strings.Join(lines, "\n")
	return encode(ntfyMessage{Topic: topicOf(to), Title: title, Message: text, Click: click}), len(text) <= maxNtfy
}
