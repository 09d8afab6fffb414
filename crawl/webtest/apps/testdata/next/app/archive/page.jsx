"use client";
import { useData } from "../data";

export default function Archive() {
  const stations = useData("/data/stations.json");
  return (
    <>
      <h1>Archive</h1>
      <p>A report of every station, as it was sent to the water board.</p>
      <table>
        <tbody>
          {stations?.map((s) => (
            <tr key={s.id}><td>{s.river}</td><td><a href={s.report}>{s.name}</a></td></tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
