package monitor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// endLimit is how long requests may go on when the server ends.
const endLimit = 2 * time.Second

// Server answers those who watch a worker.
type Server struct {
	Metrics   *Metrics
	Readiness *Readiness
	listener  net.Listener
}

// Listen listens at HOST:PORT or :PORT.
func Listen(ctx context.Context, address, version string) (*Server, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for Prometheus at %s: %w", address, err)
	}
	return &Server{Metrics: NewMetrics(version), Readiness: NewReadiness(), listener: l}, nil
}

// Address is where it listens.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Start answers until stop is called.
func (s *Server) Start(log *slog.Logger) (stop func()) {
	server := &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("nobody can watch this worker any more", "address", s.Address(), "error", err)
		}
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), endLimit)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			_ = server.Close() // remaining requests are cut off
		}
		<-done
	}
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.Metrics.Handler())
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.Handle("GET /readyz", s.Readiness)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		mux.ServeHTTP(w, r)
	})
}
