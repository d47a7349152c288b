package mail

import (
	"bufio"
	"context"
	"fmt"
	"net"
	netmail "net/mail"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wneessen/go-mail/smtp"
)

// A server that looks into each message acknowledges it after minutes. Whoever gives up before
// sends the mail again, though the server delivers it.
func TestSlowServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at    string // the command whose answer takes so long
		takes time.Duration
		taken bool
	}{
		{".", 31 * time.Second, true},
		{".", 5 * time.Minute, true},
		{".", time.Hour, false},
		{"RCPT", time.Minute, true},
		{"RCPT", 5 * time.Minute, false},
	} {
		t.Run(fmt.Sprintf("%s %s", c.at, c.takes), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := net.Pipe()
				served := make(chan struct{})
				go func() {
					defer close(served)
					serveSlowly(theirs, c.at, c.takes)
				}()
				client, err := smtp.NewClient(ours, "localhost")
				if err != nil {
					t.Fatal(err)
				}
				s := &Sender{}
				ctx, cancel := context.WithTimeout(t.Context(), s.TimeLimit())
				defer cancel()
				conn := &connection{client: client, raw: ours}
				err = conn.transfer(ctx, "a@example.org", []*netmail.Address{{Address: "b@example.org"}}, []byte("Subject: x\r\n\r\nx\r\n"))
				if (err == nil) != c.taken {
					t.Errorf("%v", err)
				}
				conn.drop()
				<-served
			})
		})
	}
}

// serveSlowly takes a message, and thinks for a while about one command.
func serveSlowly(conn net.Conn, slow string, takes time.Duration) {
	defer conn.Close()
	say := func(text string) { fmt.Fprintf(conn, "%s\r\n", text) }
	say("220 ready")
	inData := false
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		verb, _, _ := strings.Cut(lines.Text(), " ")
		if inData && verb != "." {
			continue
		}
		if strings.HasPrefix(verb, slow) {
			time.Sleep(takes) // of the bubble's clock
		}
		if inData = verb == "DATA"; inData {
			say("354 send it")
			continue
		}
		say("250 ok")
	}
}

// A delivery has ten minutes, and begins its last message in the first of them.
func TestTimeLimitFitsADelivery(t *testing.T) {
	t.Parallel()
	if most := (&Sender{}).TimeLimit() + shortLimit; most > 9*time.Minute {
		t.Errorf("a message may take %s", most)
	}
}
