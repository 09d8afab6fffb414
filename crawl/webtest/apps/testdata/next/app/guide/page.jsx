export default function Guide() {
  return (
    <>
      <h1>Guide</h1>
      <p>
        A gauge is read from the bank, always at the same place and, if possible, at the same hour of the
        day. The height is recorded in centimetres above the zero of the gauge, which is not the bed of the
        river. A keeper waits until a wave has passed, reads three times and records the middle value. A
        missed reading is left out and never guessed, because the floods of a hundred years are counted from
        these books.
      </p>
    </>
  );
}
