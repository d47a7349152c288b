package robots

import (
	"errors"
	"testing"
)

// TestClassify goes through all answers there are to a request for a robots.txt,
// made without conditions or a range.
func TestClassify(t *testing.T) {
	t.Parallel()
	const to = "http://x/"
	broken := errors.New("connection reset")
	cases := []struct {
		statuses []int
		err      error
		location string
		hops     int
		want     Class
		why      string
	}{
		{[]int{0}, nil, "", 0, Unreachable, "no answer"},
		{[]int{0, 200, 204, 301, 404, 500}, broken, to, 0, Unreachable, "half an answer; half a file allows too much"},
		{[]int{100, 101, 102, 103, 199}, nil, "", 0, Unreachable, "an interim answer, or another protocol: the file is still to come"},
		{[]int{101}, nil, to, 0, Unreachable, "an interim answer leads nowhere"},
		{[]int{200}, nil, "", 0, Parsed, "the file; an empty one has no rules"},
		{[]int{201, 202, 203, 207, 208, 299}, nil, "", 0, Parsed, "successful (RFC 9309 2.3.1.1); an unknown 2xx is a 200 (RFC 9110 15)"},
		{[]int{204, 205}, nil, "", 0, Parsed, "successful, and has no content: a file without rules"},
		{[]int{200, 204}, nil, to, 0, Parsed, "a Location redirects no success"},
		{[]int{206}, nil, "", 0, Unreachable, "a part of the file, which was not asked for"},
		{[]int{226}, nil, "", 0, Unreachable, "a difference to a file that we do not have"},
		{[]int{304}, nil, "", 0, Unreachable, "as a copy that we do not have; nothing is known of the file"},
		{[]int{206, 226, 304, 305}, nil, to, 0, Unreachable, "a Location makes it no better"},
		{[]int{206, 226, 304, 305}, nil, to, MaxHops, Unreachable, "nor do many hops"},
		{[]int{301, 302, 303, 307, 308}, nil, to, 0, Redirected, "a redirect (RFC 9309 2.3.1.2)"},
		{[]int{300}, nil, to, 0, Redirected, "a choice, with the one that the site prefers"},
		{[]int{306, 309, 399}, nil, to, 0, Redirected, "an unknown 3xx is a 300 (RFC 9110 15)"},
		{[]int{302}, nil, to, MaxHops - 1, Redirected, "five hops are followed"},
		{[]int{300, 301, 302, 303, 306, 307, 308}, nil, to, MaxHops, AllowAll, "a sixth is not, and the file counts as unavailable"},
		{[]int{300, 301, 302, 303, 306, 307, 308, 399}, nil, "", 0, AllowAll, "a redirect that leads nowhere counts as unavailable"},
		{[]int{305}, nil, "", 0, Unreachable, "to be had by a proxy only"},
		{[]int{400, 401, 403, 404, 405, 406, 408, 410, 412, 416, 418, 421, 451, 499}, nil, "", 0, AllowAll, "unavailable (RFC 9309 2.3.1.3)"},
		{[]int{404}, nil, to, 0, AllowAll, "a Location redirects no error"},
		{[]int{429}, nil, "", 0, Unreachable, "asks for fewer requests, not for more"},
		{[]int{500, 501, 502, 503, 504, 507, 511, 520, 599}, nil, "", 0, Unreachable, "unreachable (RFC 9309 2.3.1.4)"},
		{[]int{503}, nil, to, 0, Unreachable, "a Location redirects no error"},
		{[]int{-1, 1, 99, 600, 700, 999}, nil, to, 0, Unreachable, "no status of HTTP"},
	}
	for _, c := range cases {
		for _, status := range c.statuses {
			if got := Classify(status, c.err, c.location, c.hops); got != c.want {
				t.Errorf("%d (%v) to %q after %d hops is %q, want %q: %s", status, c.err, c.location, c.hops, got, c.want, c.why)
			}
		}
	}
}
