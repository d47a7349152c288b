package extract

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// methodAttributes hold the method with which a script follows a link.
var methodAttributes = set("data-method data-turbo-method data-ajax-method")

// sendAttributes make a script send a request that is no GET.
var sendAttributes = set("hx-post hx-put hx-patch hx-delete data-hx-post data-hx-put data-hx-patch data-hx-delete")

// questionAttributes hold a question that a script asks before it follows a link.
var questionAttributes = set("data-confirm data-turbo-confirm data-bs-confirm hx-confirm data-hx-confirm")

// confirmRE finds the question of a script.
var confirmRE = regexp.MustCompile(`\bconfirm\s*\(`)

// acts reports whether a link changes something, by what it says to scripts: that they follow
// it with another method than GET, or, with asks, that they ask the reader first ("Delete this
// page?"). Whoever runs no scripts would follow it with GET and without a question, and some
// servers then do what nobody asked for.
func acts(attributes []html.Attribute) (sends, asks bool) {
	for _, a := range attributes {
		value := strings.TrimSpace(a.Val)
		switch {
		case methodAttributes[a.Key]:
			sends = sends || value != "" && !strings.EqualFold(value, "get") && !strings.EqualFold(value, "head")
		case sendAttributes[a.Key]:
			sends = true
		case questionAttributes[a.Key]:
			asks = asks || value != "" && !strings.EqualFold(value, "false")
		case a.Key == "onclick":
			asks = asks || confirmRE.MatchString(value)
		}
	}
	return sends, asks
}
