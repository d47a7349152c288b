// Package gamma is the mathematics of visits to pages that change at random. The
// changes of a page are a Poisson process of rate λ, in changes a day; times are days.
//
//   - [Distribution] is a belief about λ, updated by the results of visits.
//     [Evidence] is their evidence apart from any prior.
//   - [Distribution.Survival] and its integrals, and [Distribution.Quantile], follow
//     from a belief; [Digamma] and [ShapeOf] help to fit a prior to many.
//   - [EvenG], [EvenH], [EvenK], [EvenAge] and [Ein] give the effect of evenly
//     spaced visits when λ is known.
//   - [Solve] and [Root] find roots.
//
// The functions are pure and use the standard library only. The accuracy stated is
// relative to the result.
package gamma
