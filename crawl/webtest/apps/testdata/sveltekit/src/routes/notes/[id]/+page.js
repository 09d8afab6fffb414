import notes from "../../../../notes.json";

export const entries = () => Object.keys(notes).map((id) => ({ id }));
export const load = ({ params }) => ({ note: notes[params.id] });
