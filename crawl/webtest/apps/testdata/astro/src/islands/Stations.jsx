import { useEffect, useState } from "preact/hooks";

export default function Stations() {
  const [stations, setStations] = useState([]);
  useEffect(() => {
    fetch("/data/stations.json").then((response) => response.json()).then(setStations);
  }, []);
  return (
    <ul>
      {stations.map((s) => <li key={s.id}><a href={`/stations/${s.id}/`}>{s.name}</a>, {s.river}</li>)}
    </ul>
  );
}
