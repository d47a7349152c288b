package web

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Guard decides who may ask. The zero Guard lets in everybody who reaches this machine as
// localhost or by an address.
type Guard struct {
	// Hosts are the names, besides localhost and addresses, by which the server may be
	// addressed: a browser that was led here by another name is turned away.
	Hosts []string
	// Token allows looking and commands, ReadToken only looking. If both are "", no token
	// is needed.
	Token, ReadToken string
}

// policy lets a page load its own style, script and images, and nothing else from anywhere.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// formMost bounds the bytes of a posted form: a button's fields, or a token.
const formMost = 64 << 10

// bodyLimit is how long a client may take to send the body of its request.
const bodyLimit = 30 * time.Second

// timedBody is a body that must have come by a time.
type timedBody struct {
	io.ReadCloser
	conn *http.ResponseController
}

// timed limits the time in which the body of a request must come. A limit of the server's would
// end streams of events too.
func timed(w http.ResponseWriter, r *http.Request) io.ReadCloser {
	conn := http.NewResponseController(w)
	if r.ContentLength == 0 || conn.SetReadDeadline(time.Now().Add(bodyLimit)) != nil {
		return r.Body // or nothing to limit: no connection is read
	}
	return timedBody{r.Body, conn}
}

// Read implements io.Reader. Once the body is there the limit ends: while a command is carried out,
// the server reads on to learn whether its client has left, and must not take the limit for that.
func (b timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.conn.SetReadDeadline(time.Time{}) // a connection that is gone needs no limit
	}
	return n, err
}

// protect serves next to clients that may ask.
func (g Guard) protect(s *Server, next http.Handler) http.Handler {
	crossOrigin := http.NewCrossOriginProtection()
	crossOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.forbid(w, r, "this request comes from another site")
	}))
	known := crossOrigin.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.admit(s, w, r, next)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if !g.addressed(r.Host) {
			s.forbid(w, r, "this server is not known by that name: RECRAWL_WEB_HOSTS lists its names")
			return
		}
		r.Body = http.MaxBytesReader(w, timed(w, r), formMost)
		known.ServeHTTP(w, r)
	})
}

// forbid turns a request away. It shows no page: whoever asks may have been led here.
func (s *Server) forbid(w http.ResponseWriter, r *http.Request, why string) {
	if wantsJSON(r) {
		s.writeJSON(w, http.StatusForbidden, failureAnswer{why})
		return
	}
	http.Error(w, why, http.StatusForbidden)
}

// addressed reports whether a Host header names this server. The name of another site that
// was made to lead here does not. An address cannot be made to lead elsewhere.
func (g Guard) addressed(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if host == "localhost" || slices.Contains(g.Hosts, host) {
		return true
	}
	return net.ParseIP(host) != nil
}

// loginPath is the address of the form that asks for a token, and to which it is posted.
const loginPath = "/login"

// loginCookie holds the proof that its bearer knew a token.
const loginCookie = "recrawl-login"

// access is the level of access that a token grants.
type access int

const (
	noAccess access = iota
	readAccess
	fullAccess
)

// admit serves a request that carries a token, and asks for one otherwise.
func (g Guard) admit(s *Server, w http.ResponseWriter, r *http.Request, next http.Handler) {
	switch a := g.access(r); {
	case g.Token+g.ReadToken != "" && r.URL.Path == loginPath && r.Method == http.MethodPost:
		g.login(s, w, r)
	case a != noAccess && g.Token+g.ReadToken != "" && r.URL.Path == loginPath && !wantsJSON(r):
		s.writePage(w, r, http.StatusOK, "login.html", answer{Title: "Log in"}) // with another token
	case strings.HasPrefix(r.URL.Path, "/assets/"), r.URL.Path == healthPath, r.URL.Path == readyPath, a == fullAccess:
		next.ServeHTTP(w, r)
	case a == readAccess:
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), readOnlyKey{}, true)))
	case wantsJSON(r):
		w.Header().Set("WWW-Authenticate", "Bearer")
		s.writeJSON(w, http.StatusUnauthorized, struct {
			Error string `json:"error"`
		}{"a token is needed: send it as Authorization: Bearer TOKEN"})
	default:
		s.writePage(w, r, http.StatusUnauthorized, "login.html", answer{Title: "Log in"})
	}
}

// access looks for a token, or for the cookie that stands for one.
func (g Guard) access(r *http.Request) access {
	if g.Token == "" && g.ReadToken == "" {
		return fullAccess
	}
	scheme, given, is := strings.Cut(r.Header.Get("Authorization"), " ")
	if is && strings.EqualFold(scheme, "Bearer") {
		given = strings.TrimLeft(given, " ")
		return g.of(func(token string) bool { return same(given, token) })
	}
	cookie, err := r.Cookie(atPort(loginCookie, r))
	if err != nil {
		return noAccess
	}
	return g.of(func(token string) bool { return same(cookie.Value, proof(token)) })
}

func (g Guard) of(is func(token string) bool) access {
	switch {
	case g.Token != "" && is(g.Token):
		return fullAccess
	case g.ReadToken != "" && is(g.ReadToken):
		return readAccess
	}
	return noAccess
}

// login gives a browser the cookie for its token.
func (g Guard) login(s *Server, w http.ResponseWriter, r *http.Request) {
	token := r.PostFormValue("token")
	if g.of(func(t string) bool { return same(token, t) }) == noAccess {
		s.writePage(w, r, http.StatusUnauthorized, "login.html", answer{Title: "Log in", Data: "That is not the token."})
		return
	}
	http.SetCookie(w, &http.Cookie{Name: atPort(loginCookie, r), Value: proof(token), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: byTLS(r)})
	http.Redirect(w, r, back(r), http.StatusSeeOther)
}

// byTLS reports whether a browser speaks TLS with us, or with the proxy before us as this says.
// A browser that makes it up only keeps its own cookie from itself.
func byTLS(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

// proof returns the value that a cookie holds instead of the token: a leaked cookie is no
// token for other places.
func proof(token string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("recrawl web login"))
	return hex.EncodeToString(mac.Sum(nil))
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

type readOnlyKey struct{}

// readOnly reports whether the asker may only look.
func readOnly(ctx context.Context) bool { is, _ := ctx.Value(readOnlyKey{}).(bool); return is }
