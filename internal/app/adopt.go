package app

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"recrawl/internal/cli"
	"recrawl/internal/residence"
	"recrawl/internal/temporalkit"
)

// Adopt implements cli.Backend.
func (Backend) Adopt(ctx context.Context, at cli.Target, ended []string, dry bool) (done cli.Adopted, err error) {
	c, err := dialTemporal(ctx, at.Temporal)
	if err != nil {
		return cli.Adopted{}, err
	}
	defer c.Close()
	s, err := openStore(ctx, at.Store, storeAdopt, "")
	if err != nil {
		return cli.Adopted{}, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	namespace := cmp.Or(at.Temporal.Namespace, temporalkit.Namespace(temporalkit.Options{}))
	r := resident{client: c, store: s, namespace: namespace, queue: at.Temporal.TaskQueue}
	place, home, err := r.place(ctx)
	if err != nil {
		return cli.Adopted{}, err
	}
	q, err := r.ask(ctx, place, home)
	if err == nil {
		err = q.Unreadable()
	}
	if err != nil {
		return cli.Adopted{}, err
	}
	place.Ended = slices.Concat(home.Ended, residence.Others(s.ID(), q.Crawls), ended)
	slices.Sort(place.Ended)
	place.Ended = slices.DeleteFunc(slices.Compact(place.Ended), func(id string) bool { return id == s.ID() })
	done = cli.Adopted{Store: s.ID(), Place: place.String(), Ended: place.Ended}
	if !home.IsZero() && home.String() != place.String() {
		done.Before = home.String()
	}
	if dry {
		return done, nil
	}
	// The store may be a copy, or restored: anybody who followed another one's feed must
	// learn of that.
	if err := s.NewEpoch(ctx); err != nil {
		return done, err
	}
	_, err = s.SetHome(ctx, place, true)
	return done, err
}
