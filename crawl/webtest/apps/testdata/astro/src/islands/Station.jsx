import { useEffect, useState } from "preact/hooks";

export default function Station({ id }) {
  const [station, setStation] = useState(null);
  useEffect(() => {
    fetch(`/data/stations/${id}.json`).then((response) => response.json()).then(setStation);
  }, [id]);
  if (!station) return <p>Loading…</p>;
  return (
    <article>
      <h1>{station.name}</h1>
      <p>{station.text}</p>
      <a href={station.report}>Report</a> <a href={`/stations/${station.next}/`}>Next station</a>
    </article>
  );
}
