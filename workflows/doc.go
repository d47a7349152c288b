// Package workflows holds what happens over months: the life of a page, the
// discovery of new ones and the care of a crawl. It decides and waits; all I/O
// is in activities, which it knows by contract only.
//
// Every workflow here has the same shape. One serialisable struct of package
// contract is its whole state; pure functions of that state and the time say
// what comes next (pageNext, crawlNext); a loop does it, one step at a time.
// Between two steps the state is complete, so any pause between two steps is a
// place where the run may continue as new.
package workflows
