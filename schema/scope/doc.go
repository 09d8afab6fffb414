// Package scope decides which class a URL has, and which rule, if any, keeps it from being visited.
//
// A [Scope] is built once from the lists of the configuration and never changes, so any number of
// goroutines may use it. It expects hosts and URLs in the canonical form of package weburl and does not
// canonicalize them again.
//
// # Classes
//
// The first match wins: blacklist, stub, quality, otherwise discovered. The names and wildcard bases of
// all lists are keys of one map. A look-up tries the host and then each parent domain, so its cost
// depends on the number of labels, not on the length of the lists.
//
// A [Pattern] matches a host on any port.
//
// # Refusals
//
// A page of a visitable class may still be refused: by the include and exclude expressions of its
// origins, and by traps that are visible in the URL alone ([Scope.Refuse]). This package also defines
// the rules and limits of caps that need counting (queries of a path, pages below a prefix, pages of a
// group); the crawl does the counting.
package scope
