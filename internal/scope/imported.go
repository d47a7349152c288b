package scope

import (
	"net/netip"
	"strings"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

// A crawl may have millions of imported seeds. The store knows them by their keys;
// before a scope judges some URLs, it is told which of the relevant keys exist.

// SeedKeys are the keys by which a URL is known as a seed.
func SeedKeys(seed urlkey.URL) []crawl.SeedKey {
	return append(keysOf(seed), crawl.SeedKey{Kind: crawl.SeedFolder, Text: seed.HostKey() + folder(seed.Path())})
}

// AskedKeys are the keys that matter for a verdict on a URL.
func AskedKeys(url urlkey.URL) []crawl.SeedKey {
	if url.IsZero() {
		return nil
	}
	return append(keysOf(url), folders(url)...)
}

// Knowing returns the scope for judging URLs, given which of their AskedKeys
// imported seeds have. It keeps the map.
func (s Scope) Knowing(keys map[crawl.SeedKey]bool) Scope {
	s.imported = keys
	return s
}

// keysOf returns the keys that are the same for a seed and for a URL like it.
func keysOf(url urlkey.URL) []crawl.SeedKey {
	keys := []crawl.SeedKey{
		{Kind: crawl.SeedURL, Text: url.String()},
		{Kind: crawl.SeedHost, Text: url.HostKey()},
		domainKey(url),
	}
	if url.IsLoopback() {
		for _, at := range url.Loopback() {
			keys = append(keys, loopbackKey(url, at))
		}
	}
	return keys
}

func loopbackKey(url urlkey.URL, at netip.AddrPort) crawl.SeedKey {
	return crawl.SeedKey{Kind: crawl.SeedLoopback, Text: url.HostKey() + " " + at.String()}
}

// SeedLoopback returns the services of this machine that a URL names and that an
// imported seed of its host, by these keys, names too.
func SeedLoopback(keys map[crawl.SeedKey]bool, url urlkey.URL) []netip.AddrPort {
	var all []netip.AddrPort
	for _, at := range url.Loopback() {
		if keys[loopbackKey(url, at)] {
			all = append(all, at)
		}
	}
	return all
}

func domainKey(url urlkey.URL) crawl.SeedKey {
	return crawl.SeedKey{Kind: crawl.SeedDomain, Text: urlkey.RegistrableDomain(url.Hostname())}
}

// folders returns the folders that contain a URL, each a SeedFolder.
func folders(url urlkey.URL) []crawl.SeedKey {
	var keys []crawl.SeedKey
	path := url.Path()
	for i := strings.IndexByte(path, '/'); i >= 0; {
		keys = append(keys, crawl.SeedKey{Kind: crawl.SeedFolder, Text: url.HostKey() + path[:i+1]})
		next := strings.IndexByte(path[i+1:], '/')
		if next < 0 {
			break
		}
		i += next + 1
	}
	return keys
}

// importedAbove reports whether an imported seed's folder holds the URL.
func (s Scope) importedAbove(url urlkey.URL) bool {
	if len(s.imported) == 0 {
		return false
	}
	for _, k := range folders(url) {
		if s.imported[k] {
			return true
		}
	}
	return false
}
