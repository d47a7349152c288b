package monitor

import (
	"context"
	"errors"
	"time"

	"recrawl/activities"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// Stores counts and times the calls of the parts of a store that visits use.
func (m *Metrics) Stores(s activities.Stores) activities.Stores {
	s.Gate, s.Pages, s.Frontier = &meteredGate{s.Gate, m}, &meteredPages{s.Pages, m}, &meteredFrontier{s.Frontier, m}
	return s
}

type meteredGate struct {
	store.Gate
	m *Metrics
}

type meteredPages struct {
	activities.PageStore
	m *Metrics
}

type meteredFrontier struct {
	activities.FrontierStore
	m *Metrics
}

// Acquire implements store.Gate.
func (s *meteredGate) Acquire(ctx context.Context, p store.AcquireParams) (store.AcquireResult, error) {
	start := time.Now()
	r, err := s.Gate.Acquire(ctx, p)
	s.m.gateWait.WithLabelValues("acquire").Observe(time.Since(start).Seconds())
	s.m.storeError("acquire", err)
	if err == nil {
		s.m.answers.WithLabelValues(string(r.Answer), r.Reason).Inc()
	}
	return r, err
}

// Begin implements store.Gate.
func (s *meteredGate) Begin(ctx context.Context, p store.BeginParams) (store.BeginResult, error) {
	start := time.Now()
	r, err := s.Gate.Begin(ctx, p)
	s.m.gateWait.WithLabelValues("begin").Observe(time.Since(start).Seconds())
	s.m.storeError("begin", err)
	return r, err
}

// Release implements store.Gate.
func (s *meteredGate) Release(ctx context.Context, p store.ReleaseParams) (store.GateEffects, error) {
	defer s.m.storeCall("release")()
	effects, err := s.Gate.Release(ctx, p)
	s.m.storeError("release", err)
	s.m.backedOff(effects, p.Answer)
	return effects, err
}

// Finish implements store.Gate.
func (s *meteredGate) Finish(ctx context.Context, p store.FinishParams) (store.FinishResult, error) {
	var planned store.RecordParams
	plan := p.Plan
	p.Plan = func(held time.Duration) store.RecordParams {
		planned = plan(held)
		return planned
	}
	defer s.m.storeCall("finish")()
	r, err := s.Gate.Finish(ctx, p)
	s.m.storeError("finish", err)
	if err == nil {
		s.m.backedOff(r.Effects, p.Release.Answer)
		s.m.visited(planned, r.RecordResult)
	}
	return r, err
}

// SaveRobots implements store.Gate.
func (s *meteredGate) SaveRobots(ctx context.Context, p store.SaveRobotsParams) error {
	defer s.m.storeCall("save_robots")()
	err := s.Gate.SaveRobots(ctx, p)
	s.m.storeError("save_robots", err)
	if err == nil {
		s.m.robots.WithLabelValues(robotsResult(p.State)).Inc()
	}
	return err
}

// RecordVisit implements activities.PageStore.
func (s *meteredPages) RecordVisit(ctx context.Context, p store.RecordParams) (store.RecordResult, error) {
	defer s.m.storeCall("record_visit")()
	r, err := s.PageStore.RecordVisit(ctx, p)
	s.m.storeError("record_visit", err)
	if err == nil {
		s.m.visited(p, r)
	}
	return r, err
}

// SaveVersion implements activities.PageStore.
func (s *meteredPages) SaveVersion(ctx context.Context, p store.SaveVersionParams) (int64, error) {
	defer s.m.storeCall("save_version")()
	id, err := s.PageStore.SaveVersion(ctx, p)
	s.m.storeError("save_version", err)
	return id, err
}

// RegisterLinks implements activities.FrontierStore.
func (s *meteredFrontier) RegisterLinks(ctx context.Context, p store.RegisterParams) (store.RegisterResult, error) {
	defer s.m.storeCall("register_links")()
	r, err := s.FrontierStore.RegisterLinks(ctx, p)
	s.m.storeError("register_links", err)
	return r, err
}

// Admit implements activities.FrontierStore.
func (s *meteredFrontier) Admit(ctx context.Context, p store.AdmitParams) ([]store.PageRecord, error) {
	defer s.m.storeCall("admit")()
	pages, err := s.FrontierStore.Admit(ctx, p)
	s.m.storeError("admit", err)
	return pages, err
}

// visited counts a visit, once, even if it is recorded again.
func (m *Metrics) visited(p store.RecordParams, r store.RecordResult) {
	if r.Already {
		return
	}
	m.visits.WithLabelValues(r.Visit.Outcome.String()).Inc()
	if r.Visit.Visit > 1 && r.Visit.Outcome != crawl.OutcomeSkipped {
		m.lag.Observe(p.Late.Seconds())
	}
}

func (m *Metrics) backedOff(e store.GateEffects, answer store.HostAnswer) {
	if e.Held > 0 {
		m.backoffs.WithLabelValues(string(answer)).Inc()
	}
}

// storeCall times a call until the function that it returns is called.
func (m *Metrics) storeCall(call string) func() {
	start := time.Now()
	return func() { m.storeTook.WithLabelValues(call).Observe(time.Since(start).Seconds()) }
}

// Kinds of the store's errors that an operator acts on.
const (
	kindUnavailable = "unavailable"
	kindFull        = "full"
	kindOther       = "other"
	kindCorrupt     = "corrupt"
)

var storeKinds = []string{kindUnavailable, kindFull, kindOther}

// storeError counts an error that is not an answer.
func (m *Metrics) storeError(call string, err error) {
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, store.ErrRefused), errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrConflict):
	case errors.Is(err, store.ErrFull):
		m.storeErr.WithLabelValues(call, kindFull).Inc()
	case errors.Is(err, store.ErrUnavailable):
		m.storeErr.WithLabelValues(call, kindUnavailable).Inc()
	default:
		m.storeErr.WithLabelValues(call, kindOther).Inc()
	}
}

func robotsResult(s store.RobotsState) string {
	switch s {
	case store.RobotsParsed:
		return "parsed"
	case store.RobotsAllowAll:
		return "none"
	case store.RobotsUnreachable:
		return "unreachable"
	case store.RobotsRedirected:
		return "redirected"
	}
	return "unknown"
}
