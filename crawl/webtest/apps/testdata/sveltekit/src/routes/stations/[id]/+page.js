export const entries = () => ["1", "2", "3", "4", "5", "6"].map((id) => ({ id }));
