package testsite

import (
	"context"
	"fmt"
	"html"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"recrawl/internal/crawl"
)

// Attack is a host that abuses whoever crawls it, in one way.
type Attack struct {
	// Name: the host is NAME.localhost, and every name under it belongs to it.
	Name string
	// Outcome is the required outcome of a visit to its first page, with Problem as a part
	// of its words, if the answer itself is the attack; else it is zero.
	Outcome crawl.Outcome
	Problem string

	http.Handler
}

// Aims are where attacks try to send their crawler; each is a host with a port.
type Aims struct {
	// Victim: names under it also belong to the victim.
	Victim string
	// Neighbour is another service of the machine on which the attacker runs.
	Neighbour string
}

// Attacks returns all attacks except those without an end, which Endless plays.
func Attacks(aims Aims) []Attack {
	return slices.Concat(robotsAttacks(), aimAttacks(aims), orderAttacks(), listAttacks(), throttleAttacks(), wireAttacks(), markupAttacks())
}

// wire is a connection whose request was read, on which an attack writes what it likes.
// After a failed write nobody is there to answer.
type wire struct {
	net.Conn
	request *http.Request
	over    bool
	gone    <-chan struct{} // closed when the client has closed the connection
}

// onWire answers by hand.
func onWire(attack func(w *wire)) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			panic(fmt.Sprintf("testsite: %v", err)) // the server speaks HTTP/1 and is ours
		}
		gone := make(chan struct{})
		defer func() { conn.Close(); <-gone }()
		defer context.AfterFunc(r.Context(), func() { conn.Close() })()
		go func() {
			defer close(gone)
			for buffer := make([]byte, 512); ; {
				if _, err := conn.Read(buffer); err != nil {
					return
				}
			}
		}()
		attack(&wire{Conn: conn, request: r, gone: gone})
	})
}

func (w *wire) send(parts ...string) {
	for _, part := range parts {
		_, err := w.Write([]byte(part))
		w.over = w.over || err != nil
	}
}

// forever repeats a piece until the client has enough.
func (w *wire) forever(piece string) {
	block := strings.Repeat(piece, 1+(64<<10)/len(piece))
	for !w.over {
		w.send(block)
	}
}

// drip repeats a piece slowly.
func (w *wire) drip(piece string) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !w.over {
		w.send(piece)
		select {
		case <-tick.C:
		case <-w.gone:
			return
		}
	}
}

func (w *wire) reset() { w.Conn.(*net.TCPConn).SetLinger(0) }

// says answers and closes.
func says(parts ...string) http.Handler {
	return onWire(func(w *wire) { w.send(parts...) })
}

// repeats says a start and then a piece for ever.
func repeats(start, piece string) http.Handler {
	return onWire(func(w *wire) { w.send(start); w.forever(piece) })
}

// drips says a start and then, slowly, a piece for ever.
func drips(start, piece string) http.Handler {
	return onWire(func(w *wire) { w.send(start); w.drip(piece) })
}

// withoutRobots serves a host without a robots.txt.
func withoutRobots(pages http.Handler) http.Handler {
	return withRobots(http.NotFoundHandler(), pages)
}

func withRobots(robots, pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == robotsPath {
			robots.ServeHTTP(w, r)
			return
		}
		pages.ServeHTTP(w, r)
	})
}

// plainText answers with a text.
func plainText(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Write([]byte(text))
	})
}

// writePage writes a page whose words follow from its address.
func writePage(w http.ResponseWriter, r *http.Request, head string, links ...string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<!doctype html><html lang=en><head><title>%s</title>%s</head><main><p>%s</p>",
		html.EscapeString(r.Host), head, paragraph(rngOf(1, r.Host, r.URL.RequestURI())))
	for _, link := range links {
		fmt.Fprintf(w, "<p><a href=\"%s\">on</a></p>", html.EscapeString(link))
	}
	fmt.Fprint(w, "</main></html>\n")
}

// linkedPages serves a host whose first page links to others, which link nowhere.
func linkedPages(links ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RequestURI() == "/" {
			writePage(w, r, "", links...)
			return
		}
		writePage(w, r, "")
	})
}

// numbered returns n pieces, each with its number.
func numbered(n int, piece string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, piece, i)
	}
	return b.String()
}
