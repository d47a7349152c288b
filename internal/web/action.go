package web

import (
	"context"
	"net/http"
)

// action is a button: an address to which a form is posted.
type action struct {
	pattern string // as in view
	// do carries the command out and returns what was understood, in words.
	do func(ctx context.Context, s *Server, r *http.Request) (string, error)
}

// actions are all buttons.
func actions() []action {
	return nil
}
