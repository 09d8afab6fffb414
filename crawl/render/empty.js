// Runs before the first script of a page in a room that had another page before.
try {
  if (window === window.top) localStorage.clear();
} catch { /* a page that is not allowed to store anything */ }
