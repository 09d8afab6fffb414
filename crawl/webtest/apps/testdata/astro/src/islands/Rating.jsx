import { useState } from "preact/hooks";

export default function Rating() {
  const [useful, setUseful] = useState(0);
  return <button onClick={() => setUseful(useful + 1)}>Useful to {useful}</button>;
}
