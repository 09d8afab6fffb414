package schema

import "strings"

// A Maze is a part of a host that never ends: what is below a path prefix is no longer visited.
type Maze struct {
	Prefix string // "/calendar"; "/?": all queries of the root; "/": the whole host
	Run    RunID  // the last run that visited pages below it
	Pages  int    // pages that this run has visited below it since it was a maze
	Other  int    // of those, pages that no longer look like it
}

// MazePages is how many pages of a maze a later run visits, to see whether it has changed.
const MazePages = 10

// MaxMazes is the largest number of mazes of a host.
const MaxMazes = 64

// Within reports whether a path with its query is below a prefix.
func Within(pathQuery, prefix string) bool {
	rest, ok := strings.CutPrefix(pathQuery, prefix)
	switch {
	case !ok:
		return false
	case rest == "" || strings.HasSuffix(prefix, "/") || strings.HasSuffix(prefix, "?"):
		return true
	}
	return rest[0] == '/' || rest[0] == '?'
}

// Mazes are the mazes of a host, in the order in which they were noticed.
type Mazes []Maze

// Closed returns the maze that keeps a page from being visited in a run; nil: none does.
func (ms Mazes) Closed(pathQuery string, run RunID) *Maze {
	for i := range ms {
		if m := &ms[i]; m.Run == run && m.Pages >= MazePages && Within(pathQuery, m.Prefix) {
			return m
		}
	}
	return nil
}
