package web

import (
	"context"
	"net/http"

	"recrawl/internal/report"
)

// crawlsView lists all crawls.
func crawlsView(ctx context.Context, s *Server, _ *http.Request) (answer, error) {
	all, err := s.Report.StatusOfAll(ctx)
	if err != nil {
		return answer{}, err
	}
	return answer{Title: "Crawls", Data: list[report.StatusLine]{V: apiVersion, Items: all}}, nil
}
