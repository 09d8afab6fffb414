import React, { Suspense, lazy, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { AnimatePresence, motion } from "framer-motion";
import { BrowserRouter, Link, NavLink, Route, Routes, useLocation, useParams } from "react-router-dom";

const Guide = lazy(() => import("./guide.jsx"));

function useData(path) {
  const [data, setData] = useState(null);
  useEffect(() => {
    const control = new AbortController();
    setData(null);
    fetch(path, { signal: control.signal })
      .then((response) => response.json())
      .then(setData)
      .catch((error) => error.name === "AbortError" || setData({ error }));
    return () => control.abort();
  }, [path]);
  return data;
}

function Stations() {
  const stations = useData("/data/stations.json");
  if (!stations) return <p role="status">Loading…</p>;
  return (
    <ul>
      {stations.map((s) => (
        <li key={s.id}>
          <Link to={`/stations/${s.id}`}>{s.name}</Link>, {s.river}
        </li>
      ))}
    </ul>
  );
}

function Station() {
  const { id } = useParams();
  const station = useData(`/data/stations/${id}.json`);
  if (!station) return <p role="status">Loading…</p>;
  return (
    <article>
      <h1>{station.name}</h1>
      <p>{station.text}</p>
      <a href={station.report}>Report</a> <Link to={`/stations/${station.next}`}>Next station</Link>
    </article>
  );
}

function Pages() {
  const location = useLocation();
  return (
    <AnimatePresence mode="wait">
      <motion.main key={location.pathname} initial={{ opacity: 0 }} animate={{ opacity: 1 }} exit={{ opacity: 0 }}>
        <Suspense fallback={<p>Loading…</p>}>
          <Routes location={location}>
            <Route path="/" element={<p>Levels of rivers. Begin with <Link to="/stations/1">Ash Weir</Link>.</p>} />
            <Route path="/stations" element={<Stations />} />
            <Route path="/stations/:id" element={<Station />} />
            <Route path="/guide" element={<Guide />} />
          </Routes>
        </Suspense>
      </motion.main>
    </AnimatePresence>
  );
}

createRoot(document.getElementById("root")).render(
  <React.StrictMode>
    <BrowserRouter>
      <nav>
        <NavLink to="/">Home</NavLink> <NavLink to="/stations">Stations</NavLink>{" "}
        <NavLink to="/guide">Guide</NavLink> <a href="/about.html">About</a>
      </nav>
      <Pages />
    </BrowserRouter>
  </React.StrictMode>,
);
