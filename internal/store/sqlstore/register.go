package sqlstore

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// urlsPerTx is how many URLs one transaction registers. Each can be three
// rows (page, frontier, link), and a transaction of the embedded store should
// hold up the hosts' lines for less than 100 ms.
const urlsPerTx = 1000

// errNewHosts: some hosts of the URLs that a transaction was to register have no rows yet.
var errNewHosts = errors.New("hosts are new")

// errVanished: pages were forgotten while a transaction registered links to them.
var errVanished = errors.New("pages have vanished")

// vanishedTries is how many times the registration of a chunk is tried if its hosts are new or
// its pages vanish. From the second time on, the tombstones of vanished pages exclude them.
const vanishedTries = 5

// foundURL is a URL to be registered, with the keys that the tables need.
type foundURL struct {
	Hash   string `json:"hash"` // urlHash in hex
	URL    string `json:"url"`
	HostID int64  `json:"host_id"`
	Level  int    `json:"level"`
	Hops   int    `json:"hops"`
	ID     int64  `json:"id"` // of the page, once known
	Kind   int64  `json:"kind"`

	nesting, place int  // of a source
	foreign        int  // 1 for the first of the foreign ones, 2 for the next …; 0 if it is not foreign
	listed         bool // the page that has it says nothing about its importance

	host     string
	spelling string // how the link spells path and query, empty for as URL does
	trap     int64  // the trap that it belongs to, 0 for none
	variant  string // the hash of store.NewURL.Variant in hex, empty for none
	looks    bool   // its address looks like a requisite's
	isNew    bool   // not known before
	was      int64  // kind of a page that was known
	newLink  bool   // the link from the page that was registered is new
	isCloser bool   // level or hops is below the known one
}

// RegisterLinks implements store.Frontier. A link of a page to itself says
// nothing about its importance and is not kept. A known page found at a lower
// level than before takes that level, and so with hops.
func (s *Store) RegisterLinks(ctx context.Context, p store.RegisterParams) (store.RegisterResult, error) {
	res, err := s.registerLinks(ctx, p)
	if err != nil {
		return store.RegisterResult{}, fmt.Errorf("register links of crawl %d: %w", p.CrawlID, err)
	}
	return res, nil
}

func (s *Store) registerLinks(ctx context.Context, p store.RegisterParams) (store.RegisterResult, error) {
	urls, err := s.foundURLs(p)
	if err != nil {
		return store.RegisterResult{}, err
	}
	if p.From == 0 { // else each transaction finds out
		if err := s.checkOrigin(ctx, p); err != nil {
			return store.RegisterResult{}, err
		}
	}
	var res store.RegisterResult
	var refused []foundURL
	for len(urls) > urlsPerTx {
		if err := s.registerChunk(ctx, p, urls[:urlsPerTx], false, &res, &refused); err != nil {
			return store.RegisterResult{}, err
		}
		urls = urls[urlsPerTx:]
	}
	err = s.registerChunk(ctx, p, urls, true, &res, &refused)
	res.Hosts, res.NewHosts = sortedOnce(res.Hosts), sortedOnce(res.NewHosts)
	return res, err
}

// sortedOnce returns the ids in order, each once.
func sortedOnce(ids []int64) []int64 {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// registerChunk registers one transaction's URLs and adds to the result and to the
// refused URLs. The last chunk reports all of these.
func (s *Store) registerChunk(ctx context.Context, p store.RegisterParams, chunk []foundURL, last bool, res *store.RegisterResult, refused *[]foundURL) error {
	var registered registration
	var err error
	for try := 1; ; try++ {
		registered, err = write(ctx, s, func(tx Tx) (registration, error) {
			return s.registerPortion(ctx, tx, p, portion{chunk, *refused, last})
		})
		if again, failed := s.triesAgain(ctx, p, chunk, err); !again || try == vanishedTries {
			err = cmp.Or(failed, err)
			break
		}
	}
	if err != nil {
		return err
	}
	*refused = append(*refused, registered.refused...)
	res.New += registered.added
	res.Forgotten += registered.forgotten
	res.Refused += len(registered.refused)
	for _, u := range registered.refused {
		if u.isRequisite() {
			res.RefusedRequisites++
		}
	}
	res.Revived += registered.revived
	res.Seen += len(chunk) - registered.added - registered.forgotten - len(registered.refused)
	res.Hosts = append(res.Hosts, registered.hosts...)
	res.NewHosts = append(res.NewHosts, registered.newHosts...)
	res.Again = registered.again
	return nil
}

// portion is the part of a registration that one transaction carries out.
type portion struct {
	urls    []foundURL
	refused []foundURL // of the portions before it
	last    bool       // ends the registration
}

// triesAgain reports whether a transaction that failed to register URLs is to be repeated, and
// adds the hosts that it found missing; failed says that it could not.
func (s *Store) triesAgain(ctx context.Context, p store.RegisterParams, urls []foundURL, err error) (again bool, failed error) {
	if errors.Is(err, errNewHosts) {
		failed = s.addHosts(ctx, p, urls)
		return failed == nil, failed
	}
	return errors.Is(err, errVanished), nil
}

// registerPortion registers a portion in a transaction. The last one ends the wait of the
// version's links and counts those that were rejected, once.
func (s *Store) registerPortion(ctx context.Context, tx Tx, p store.RegisterParams, some portion) (registration, error) {
	var rejected []store.Rejection
	if some.last {
		rejected = refusedForeign(p, some.refused)
	}
	known, err := s.beginRegistration(ctx, tx, some.urls, rejected)
	if err != nil {
		return registration{}, err
	}
	registered, d, err := s.registerSome(ctx, tx, p, some.urls, known)
	if err != nil {
		return registration{}, err
	}
	if some.last { // with its own, whose tombstones were asked for as well
		rejected = refusedForeign(p, slices.Concat(some.refused, registered.refused))
	}
	if registered.again, err = s.endRegistration(ctx, tx, p, some.last); err != nil {
		return registration{}, err
	}
	if d != nil {
		if err := d.apply(ctx, s, tx); err != nil {
			return registration{}, err
		}
	}
	if registered.again {
		return registered, nil
	}
	return registered, s.insertRejections(ctx, tx, p, rejected, known)
}

// beforehand holds what a transaction reads before it registers anything.
type beforehand struct {
	forgotten map[tombstone]bool
	now       int64
	hosts     map[string]int64 // ids of those that exist
}

// beginRegistration asks which of the URLs and of the examples of rejected links were
// forgotten, what time it is, and which hosts exist.
func (s *Store) beginRegistration(ctx context.Context, tx Tx, urls []foundURL, rejected []store.Rejection) (known beforehand, err error) {
	var list []tombstone
	var names []string
	hosts := map[string]bool{}
	for _, u := range urls {
		list = append(list, tombstone{tombURL, u.Hash})
		if !hosts[u.host] {
			hosts[u.host] = true
			list = append(list, newTombstone(tombHost, u.host))
			names = append(names, u.host)
		}
	}
	for _, e := range s.rejectedRecords(rejected) {
		list = append(list, e.tombstones()...)
	}
	if len(list) == 0 {
		return known, nil
	}
	reads := []Step{{Clock: &known.now}}
	if len(names) > 0 {
		known.hosts = make(map[string]int64, len(names))
		reads = append(reads, s.hostIDs(hostNames(names), known.hosts))
	}
	known.forgotten, err = s.tombstones(ctx, tx, list, reads...)
	return known, err
}

// endRegistration keeps the linking page. The last portion ends the wait of the version's links;
// again reports that it had ended before.
func (s *Store) endRegistration(ctx context.Context, tx Tx, p store.RegisterParams, last bool) (again bool, err error) {
	var steps []Step
	var origin, ended int64
	if p.From != 0 {
		steps = append(steps, s.keepOrigin(p, &origin))
	}
	ends := last && p.Version != 0
	if ends {
		steps = append(steps, oneRow(`DELETE FROM pending_links WHERE version_id = $1 RETURNING version_id`, []any{p.Version}, &ended))
	}
	if len(steps) == 0 {
		return false, nil
	}
	if err := tx.Pipeline(ctx, steps...); err != nil {
		return false, fmt.Errorf("end the registration: %w", err)
	}
	if p.From != 0 && origin == 0 {
		return false, fmt.Errorf("page %d: %w", p.From, store.ErrNotFound)
	}
	return ends && ended == 0, nil
}

// registration counts what one transaction registered.
type registration struct {
	added     int
	revived   int
	forgotten int        // left out
	left      []foundURL // those that were forgotten
	refused   []foundURL // left out: their foreign hosts have no room
	hosts     []int64    // of those that were not left out
	newHosts  []int64    // of pages that have become Known
	again     bool       // the version's links were registered before
}

// registerSome registers URLs in a transaction. The caller keeps the linking page and applies the
// deltas, which are nil if there was nothing to register.
func (s *Store) registerSome(ctx context.Context, tx Tx, p store.RegisterParams, chunk []foundURL, known beforehand) (registration, *deltas, error) {
	if len(chunk) == 0 {
		return registration{}, nil, nil
	}
	urls := known.remembered(chunk)
	registered := registration{forgotten: len(chunk) - len(urls), left: without(chunk, urls)}
	for i, u := range urls {
		if u.foreign == 0 {
			if urls[i].HostID = known.hosts[u.host]; urls[i].HostID == 0 {
				return registration{}, nil, errNewHosts
			}
			registered.hosts = append(registered.hosts, urls[i].HostID)
		}
	}
	var err error
	if urls, registered.refused, err = s.admitForeign(ctx, tx, p, urls); err != nil {
		return registration{}, nil, err
	}
	// Only now: admitForeign may lock the crawl's row, and if two shared it before,
	// neither could.
	if err := s.keepCrawl(ctx, tx, p); err != nil || len(urls) == 0 {
		return registered, nil, err
	}
	d := newDeltas(p.CrawlID, p.From)
	if err := s.insertFound(ctx, tx, p, urls, d, known.now); err != nil {
		return registration{}, nil, err
	}
	if p.From == 0 {
		if err := s.freeSeeds(ctx, tx, urls, d); err != nil {
			return registration{}, nil, fmt.Errorf("free seeds: %w", err)
		}
	}
	if p.Redirects {
		if err := s.freeTargets(ctx, tx, p, urls, d); err != nil {
			return registration{}, nil, fmt.Errorf("free the target of a redirect: %w", err)
		}
	}
	if p.Revive {
		if registered.revived, err = s.reviveStopped(ctx, tx, urls, d); err != nil {
			return registration{}, nil, fmt.Errorf("revive pages: %w", err)
		}
	}
	if err := s.updateSeen(ctx, tx, urls); err != nil {
		return registration{}, nil, err
	}
	woken, err := s.wakeRequisites(ctx, tx, urls, d)
	if err != nil {
		return registration{}, nil, err
	}
	registered.newHosts = append(registered.newHosts, woken...)
	registered.count(urls)
	return registered, d, nil
}

// count adds up what is new among registered URLs.
func (r *registration) count(urls []foundURL) {
	for _, u := range urls {
		if u.isNew {
			r.added++
		}
		if u.isNew && u.trap == 0 {
			r.newHosts = append(r.newHosts, u.HostID)
		}
		if u.foreign != 0 {
			r.hosts = append(r.hosts, u.HostID)
		}
	}
}

// remembered returns a copy of the URLs without those that were forgotten, themselves or with
// their hosts.
func (k beforehand) remembered(urls []foundURL) []foundURL {
	hosts := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(urls), func(u foundURL) bool {
		gone, ok := hosts[u.host]
		if !ok {
			gone = k.forgotten[newTombstone(tombHost, u.host)]
			hosts[u.host] = gone
		}
		return gone || k.forgotten[tombstone{tombURL, u.Hash}]
	})
}

// keepCrawl keeps the crawl whose seeds these are from being deleted before the
// transaction ends. A linking page keeps its crawl: see keepOrigin.
func (s *Store) keepCrawl(ctx context.Context, tx Tx, p store.RegisterParams) error {
	if p.From != 0 {
		return nil
	}
	var deleting int64
	err := tx.QueryRow(ctx, `SELECT deleting FROM crawls WHERE id = $1`+s.engine.Dialect().ForKeyShare(), []any{p.CrawlID}, &deleting)
	if err == nil && deleting != 0 {
		err = store.ErrDeleting
	}
	return err
}

// without returns the URLs of a chunk that are not among those kept.
func without(chunk, kept []foundURL) []foundURL {
	if len(chunk) == len(kept) {
		return nil
	}
	has := make(map[string]bool, len(kept))
	for _, u := range kept {
		has[u.Hash] = true
	}
	return slices.DeleteFunc(slices.Clone(chunk), func(u foundURL) bool { return has[u.Hash] })
}

// keepOrigin keeps the linking page from being forgotten before the transaction ends: otherwise
// its links would stay without it. The id stays 0 if there is no such page any more.
func (s *Store) keepOrigin(p store.RegisterParams, id *int64) Step {
	return oneRow(`SELECT id FROM pages WHERE id = $1 AND crawl_id = $2`+s.engine.Dialect().ForKeyShare(), []any{p.From, p.CrawlID}, id)
}

// foundURLs returns the URLs with their hashes, in the order of these, each
// once with its lowest level and hops.
func (s *Store) foundURLs(p store.RegisterParams) ([]foundURL, error) {
	byHash := make(map[string]foundURL, len(p.URLs))
	for i, u := range p.URLs {
		url, host := clean(u.URL), s.grouping.Unit(clean(u.Host))
		if url == "" || host == "" {
			return nil, fmt.Errorf("URL %.200q of host %.200q: one of them is empty", u.URL, u.Host)
		}
		sum := urlHash(url)
		hash := hex.EncodeToString(sum[:])
		foreign := 0
		if u.Foreign {
			foreign = i + 1
		}
		if known, ok := byHash[hash]; ok {
			foreign = min(foreign, known.foreign)
			u.Level, u.Hops = min(u.Level, known.Level), min(u.Hops, known.Hops)
			if known.Kind != int64(crawl.KindPage) && (crawl.PageKind(known.Kind).IsSource() || !u.Kind.IsSource()) {
				u.Kind, u.Nesting, u.Place = crawl.PageKind(known.Kind), known.nesting, known.place
			}
			u.Spelling = known.spelling // the first
		}
		byHash[hash] = foundURL{
			Hash: hash, URL: url, Level: u.Level, Hops: u.Hops, Kind: int64(u.Kind), nesting: u.Nesting, place: u.Place, foreign: foreign,
			listed: p.Listed || u.Kind != crawl.KindPage, host: host, trap: u.Trap, looks: u.Looks, variant: variantHash(u.Variant), spelling: clean(u.Spelling),
		}
	}
	return slices.SortedFunc(maps.Values(byHash), func(a, b foundURL) int { return strings.Compare(a.Hash, b.Hash) }), nil
}
