package crawl

import "strconv"

// MostSeeds is how many seeds a spec holds: it travels in messages, whose size is
// bounded. More of them are imported: they are rows of the store.
const MostSeeds = 1000

// SeedKeyKind says what a SeedKey is about. The numbers are stored.
type SeedKeyKind int64

// The questions of a scope about seeds.
const (
	SeedURL      SeedKeyKind = 1 // canonical URL of a seed
	SeedHost     SeedKeyKind = 2 // host key of a seed
	SeedDomain   SeedKeyKind = 3 // registrable domain of a seed's host
	SeedFolder   SeedKeyKind = 4 // host key and path, up to its last slash, of a seed
	SeedLoopback SeedKeyKind = 5 // host key, a space, and the address and port of this machine that a seed names
)

// SeedKey is one thing that a scope asks about seeds: whether there is one with
// this key. An imported seed leaves its keys in the store, so that a scope need not
// hold all seeds.
type SeedKey struct {
	Kind SeedKeyKind
	Text string
}

// CheckSeedCount reports what is wrong with the number of seeds of a spec that had
// the given number before. A crawl of an older recrawl keeps its number.
func CheckSeedCount(n, had int) error {
	if n <= MostSeeds || n <= had {
		return nil
	}
	return &SpecError{Field: "seeds", Problem: tooManySeeds(n)}
}

func tooManySeeds(n int) string {
	return "are " + strconv.Itoa(n) + ", and a spec holds at most " + strconv.Itoa(MostSeeds) +
		": start the crawl with a few, and add the others with `starter import NAME FILE`"
}
