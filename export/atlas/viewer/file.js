// The file shows the graph that it carries, and keeps the view in its address.

show(JSON.parse(document.getElementById("graph").textContent), {
  read: () => new URLSearchParams(location.hash.slice(1)),
  write: (said) => history.replaceState(null, "", "#" + said),
});
