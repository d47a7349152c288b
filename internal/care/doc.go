// Package care looks after what a store's crawls need to run, for as long as a worker does:
// it restarts workflows that are gone, were ended or are stuck, wakes sinks, keeps the search
// index in step, and notes a backlog of tasks and workers of other stores. It also has the
// repair that a person asks for.
package care
