package mcp

import "context"

type visitAsked struct{ pageAsked }

func (s *Server) requestVisit(ctx context.Context, in visitAsked) (*answer, error) {
	page, err := s.page(ctx, in.pageAsked)
	if err != nil {
		return nil, err
	}
	said, err := s.Visit(ctx, page)
	if err != nil {
		return nil, quoted{"the visit cannot be asked for", err}
	}
	a := newAnswer()
	if _, err := s.pageFacts(ctx, a, page); err != nil {
		return nil, err
	}
	// What was understood may name why a page cannot be visited in its site's words.
	a.quote("understood: " + oneLine(said, 1000) + "\n")
	return a, nil
}
