package reserve

import (
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/robots/directive"
)

// Header is one header of an answer.
type Header struct{ Name, Value string }

// Headers lists the names of the headers that FromHeaders reads, as http.Header has them.
func Headers() []string {
	return []string{"Content-Signal", "Content-Usage", "Tdm-Reservation", "Tdm-Policy"}
}

// FromHeaders reads the statements of an answer's headers, including its X-Robots-Tag.
// noimageai applies only if the answer is an image.
func FromHeaders(headers []Header, tags directive.Directives, image bool) []crawl.Reservation {
	var all [][]crawl.Reservation
	policy := ""
	for _, h := range headers {
		if strings.EqualFold(h.Name, "tdm-policy") {
			policy = h.Value
		}
	}
	for _, h := range headers {
		switch strings.ToLower(h.Name) {
		case "content-signal", "content-usage":
			all = append(all, Usage(h.Name+": ", h.Value))
		case "tdm-reservation":
			all = append(all, TDM("tdm-reservation: ", h.Value, policy))
		}
	}
	return Join(append(all, fromDirectives("X-Robots-Tag: ", tags, image))...)
}

// FromElements reads the statements of a page's <meta> elements: those for crawlers, and
// the values of those named tdm-reservation and tdm-policy.
func FromElements(robots directive.Directives, tdm []string, policy string) []crawl.Reservation {
	var all [][]crawl.Reservation
	for _, value := range tdm {
		all = append(all, TDM("meta tdm-reservation: ", value, policy))
	}
	return Join(append(all, fromDirectives("meta robots: ", robots, false))...)
}

// ForPictures reads what a page's headers and <meta> elements for crawlers say about the
// pictures that it shows: noimageai. noai concerns the page as a whole, see FromHeaders and
// FromElements.
func ForPictures(tags, robots directive.Directives) []crawl.Reservation {
	switch {
	case tags.NoImageAI:
		return NoAI("X-Robots-Tag: noimageai")
	case robots.NoImageAI:
		return NoAI("meta robots: noimageai")
	}
	return nil
}

func fromDirectives(source string, d directive.Directives, image bool) []crawl.Reservation {
	switch {
	case d.NoAI:
		return NoAI(source + "noai")
	case d.NoImageAI && image:
		return NoAI(source + "noimageai")
	}
	return nil
}
