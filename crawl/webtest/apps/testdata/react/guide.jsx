import React from "react";
import { Link } from "react-router-dom";

export default function Guide() {
  return <p>How a gauge is read, with <Link to="/stations/2">an example</Link>.</p>;
}
