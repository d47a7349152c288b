package storetest

import (
	"testing"

	"recrawl/internal/store"
)

// RunAtOnce tests those promises of Run in which several callers ask at once, for the race
// detector: in the others it has little to find, and makes them slow.
func RunAtOnce(t *testing.T, open func(t *testing.T) store.Store) {
	for _, c := range atOnceCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(newCollection(t, open(t)))
		})
	}
}

func atOnceCases() []collectionCase {
	return []collectionCase{
		{"AdmitMaxPages", admitAtOnceMaxPages},
		{"AdmitWindow", admitAtOnceWindow},
		{"Care", oneWorkerCares},
		{"EraseKeeps", eraseKeeps},
		{"Feed", feedOnce},
		{"FeedSinks", feedSinksConflict},
		{"ForeignHosts", foreignHostsAtOnce},
		{"Forget", forgetAtOnce},
		{"Held", heldAtOnce},
		{"Import", importAtOnce},
		{"ManyVisits", visitManyAtOnce},
		{"OpenCrawl", crawlOpenedAtOnce},
		{"Refill", refillAtOnce},
		{"RefillAll", refillAll},
		{"Register", registerAtOnce},
		{"Rejections", rejectionsAtOnce},
		{"RequisiteHosts", requisiteHostsAtOnce},
		{"RobotsHosts", robotsHostsAtOnce},
		{"Seed", crawlSeedBringsOneAtOnce},
		{"SnapshotThenFollow", snapshotThenFollow},
		{"StopAndStart", crawlStopsWhileItStarts},
		{"Swap", swapAtOnce},
		{"Visit", visitAtOnce},
	}
}
