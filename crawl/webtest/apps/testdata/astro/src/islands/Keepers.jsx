import { useEffect, useState } from "preact/hooks";

export default function Keepers() {
  const [stations, setStations] = useState(null);
  useEffect(() => {
    fetch("/data/stations.json").then((response) => response.json()).then(setStations);
  }, []);
  return (
    <>
      <p><a href="/">Back</a></p>
      {stations ? stations.map((s) => <p key={s.id}><a href={`/stations/${s.id}/`}>{s.keeper}</a></p>) : <p>Loading…</p>}
    </>
  );
}
