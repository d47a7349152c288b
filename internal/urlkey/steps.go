package urlkey

import (
	"net/url"
	"strings"
)

// Steps says in words how the text of a URL became its canonical form, part by
// part; nothing if it was canonical already. It explains, it does not decide:
// changes that it cannot distinguish it calls a respelling.
func Steps(raw string, u URL) []string {
	if raw == u.String() {
		return nil
	}
	var steps []string
	add := func(changed bool, step string) {
		if changed {
			steps = append(steps, step)
		}
	}
	text := strings.Trim(raw, " \t\r\n")
	add(text != raw, "removed the space around it")
	text, fragment, hasFragment := strings.Cut(text, "#")
	add(hasFragment, "removed the fragment #"+fragment)
	parsed, err := url.Parse(text)
	if err != nil {
		return append(steps, "respelled as "+u.String())
	}
	scheme, _, _ := strings.Cut(text, ":")
	add(scheme != u.Scheme(), "wrote the scheme in lower case")
	add(parsed.User != nil, "removed the user name")
	add(!strings.EqualFold(parsed.Hostname(), strings.Trim(u.Hostname(), "[]")), "wrote the host as "+u.Hostname())
	add(strings.EqualFold(parsed.Hostname(), u.Hostname()) && parsed.Hostname() != u.Hostname(), "wrote the host in lower case")
	add(parsed.Port() != u.Port(), "removed the port, which is the scheme's own")
	path := parsed.EscapedPath()
	add(path == "", "added the path /")
	add(path != "" && path != u.Path(), "wrote the path as "+u.Path())
	query := "?" + u.Query()
	add((parsed.RawQuery != "" || parsed.ForceQuery) && "?"+parsed.RawQuery != query, "wrote the query as "+query)
	if len(steps) == 0 {
		steps = append(steps, "respelled as "+u.String())
	}
	return steps
}
