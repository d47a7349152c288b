// Package sinktest plays what the deliveries of sinks need: a store of one crawl whose clock
// a test sets, events that are made up, and receivers that do as they are told.
package sinktest
