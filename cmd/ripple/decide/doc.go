// Package decide applies decisions and changed lists to a map: the entry that a decision makes in its file, what it
// would change, and the pages that have turned into another class or state.
package decide
