"use client";
import { useEffect, useState } from "react";

export function useData(path) {
  const [data, setData] = useState(null);
  useEffect(() => {
    fetch(path).then((response) => response.json()).then(setData);
  }, [path]);
  return data;
}
