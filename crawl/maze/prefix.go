package maze

import "strings"

// deepest is the maximum number of segments of a tracked prefix.
const deepest = 5

// longest is the maximum length of a tracked prefix, in bytes.
const longest = 255

// Prefixes returns the prefixes that a path with its query belongs to, the shortest first: its folders and, if there
// is a query, the path. Of /a/b/c?q these are "/a", "/a/b" and "/a/b/c". Queries of the root have the prefix "/?".
func Prefixes(pathQuery string) (all []string) {
	path, _, query := strings.Cut(pathQuery, "?")
	if path == "/" && query {
		return []string{"/?"}
	}
	for i := 1; len(all) < deepest && i <= longest; i++ {
		n := strings.IndexByte(path[i:], '/')
		if n < 0 {
			if query && i < len(path) && len(path) <= longest {
				all = append(all, path)
			}
			break
		}
		if i += n; n > 0 && i <= longest {
			all = append(all, path[:i])
		}
	}
	return all
}
