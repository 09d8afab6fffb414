// Package survey says what each page of a state file is: its state, its depth
// from every origin, the way that leads there, and how well its host is covered.
//
// A store holds what happened; what follows from it is derived here, once, from
// the records and the effective configuration of the run that the survey is of,
// which is the newest unless [Survey.At] says otherwise. Commands, exports, the
// digest and the check of the store all read a [Survey], so they never disagree.
//
// # States
//
// The state of a page follows from the first of these that says something
// (SPEC 4): its class; its visit in the run; its depth; a rule that refuses it; the
// budget of its host; a host that was given up or asks for rest. What is left is
// queued. A page that the run has not met, or has no visit left for, keeps the state
// of its last visit. One that no run has visited and an earlier run left waiting is
// judged like one that the run has met, as long as it stands in a line.
//
// A visit is not the last word in two cases. Redirects that run in a circle, or
// through more than ten pages, make a page failed, so that the order of visits
// does not matter. And a page without a good answer is queued once more when a
// form of it was seen that was not asked.
//
// # Use
//
// A Survey belongs to one goroutine, that of its store, and the store must not
// change while it is used. What is derived is kept, a few bytes for every page,
// from the first call that needs it. Functions that are called for each page may
// call the survey again.
package survey
