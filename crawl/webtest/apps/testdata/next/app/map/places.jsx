import { useData } from "../data";

export default function Places() {
  const stations = useData("/data/stations.json") ?? [];
  return <div>{stations.map((s) => <a key={s.id} href={`/stations/${s.id}/`}>{s.name}</a>)}</div>;
}
