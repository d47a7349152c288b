package contract

// MemoStore is the field of a Crawl's memo with the identity of the store that owns it:
// it can be listed without asking the workflow.
const MemoStore = "store"

// Addressed is the input of an activity. StoreID is the identity of the store of
// the crawl or page that it names; "" is any, from a workflow that does not know
// yet.
type Addressed interface{ StoreID() string }

// StoreID implements Addressed.
func (in OpenCrawlIn) StoreID() string { return in.Store }

// StoreID implements Addressed.
func (in SetCrawlStateIn) StoreID() string { return in.Store }

// StoreID implements Addressed.
func (in MaintainIn) StoreID() string { return in.Store }

// StoreID implements Addressed.
func (in ClosePagesIn) StoreID() string { return in.Store }

// StoreID implements Addressed.
func (in WakeParkedIn) StoreID() string { return in.Store }

// StoreID implements Addressed.
func (in AdmitIn) StoreID() string { return in.Store }

// StoreID implements Addressed.
func (in RankIn) StoreID() string { return in.Store }

// StoreID implements Addressed.
func (in ReplaceIn) StoreID() string { return in.Store }

// StoreID implements Addressed.
func (in AcquireIn) StoreID() string { return in.Page.Store }

// StoreID implements Addressed.
func (in RefreshRobotsIn) StoreID() string { return in.Page.Store }

// StoreID implements Addressed.
func (in FetchIn) StoreID() string { return in.Page.Store }

// StoreID implements Addressed.
func (in DetectIn) StoreID() string { return in.Page.Store }

// StoreID implements Addressed.
func (in PlanIn) StoreID() string { return in.Page.Store }

// StoreID implements Addressed.
func (in LeaveIn) StoreID() string { return in.Page.Store }

// StoreID implements Addressed.
func (in RegisterIn) StoreID() string { return in.Page.Store }
