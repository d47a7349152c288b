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
	// The message may say in the site's words why a page cannot be visited.
	a.quote("understood: " + oneLine(said, 1000) + "\n")
	return a, nil
}
