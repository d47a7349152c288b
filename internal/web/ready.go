package web

import (
	"fmt"
	"net/http"
)

// Where those who watch the server ask. No token is needed there.
const (
	healthPath = "/healthz"
	readyPath  = "/readyz"
)

// alive says that the process lives.
func alive(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	fmt.Fprintln(w, "ok")
}

// ready says whether the parts that the server needs answer.
func (s *Server) ready() http.Handler {
	if s.Ready == nil {
		return http.HandlerFunc(alive)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		s.Ready.ServeHTTP(w, r)
	})
}
