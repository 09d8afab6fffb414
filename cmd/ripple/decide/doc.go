// Package decide applies decisions and changed lists to a map: the entry of a decision in its file,
// its effect, and the pages whose class or state changes.
package decide
