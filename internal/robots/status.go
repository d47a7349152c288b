package robots

// Class is what the answer to a request for robots.txt means (RFC 9309 2.3.1).
type Class int

// Classes of answers.
const (
	Unreachable Class = iota // 5xx, 429, no answer: everything is disallowed until it recovers
	Parsed                   // 2xx: the rules decide
	AllowAll                 // 4xx: there are no rules
	Redirected               // 3xx: the next hop decides
)

// MaxHops is how many redirects are followed; more are like a 4xx.
const MaxHops = 5

// Classify judges an answer. Status 0 is no answer; hops is how many redirects
// led here.
func Classify(status int, location bool, hops int) Class {
	switch {
	case status >= 200 && status <= 299:
		return Parsed
	case status >= 300 && status <= 399 && location && hops < MaxHops:
		return Redirected
	case status >= 300 && status <= 499 && status != 429:
		return AllowAll
	}
	return Unreachable
}
