// Package sinktest simulates the surroundings of deliveries: a store of one crawl whose
// clock a test sets, made-up events, and receivers that do as they are told.
package sinktest
