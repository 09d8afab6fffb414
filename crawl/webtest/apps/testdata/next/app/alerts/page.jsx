"use client";
import { useData } from "../data";

export default function Alerts() {
  const stations = useData("/data/stations.json") ?? [];
  return (
    <>
      <h1>Alerts</h1>
      <p>
        A station gives an alert when its level has been above the mark for three hours, or rises by more than
        thirty centimetres in one. The keeper then reads the gauge every hour, by day and by night, until the level
        has been below the mark for a whole day. An alert is no warning: warnings are given by the water board alone,
        which knows the rain of the coming days as well. The stations below have their marks in the reports of last
        year, and everybody may ask for a copy.
      </p>
      <table>
        <thead><tr><th>River</th><th>Station</th></tr></thead>
        <tbody>
          {stations.map((s) => <tr key={s.id}><td>{s.river}</td><td><a href={s.report}>{s.name}</a></td></tr>)}
        </tbody>
      </table>
    </>
  );
}
