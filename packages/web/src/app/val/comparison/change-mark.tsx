import type { ChangeKind } from "./compared-file.ts"

const marks = {
  added: ["+", "added"],
  changed: ["~", "changed"],
  moved: ["→", "moved"],
  deleted: ["−", "deleted"],
} as const satisfies Record<ChangeKind, readonly [sign: string, word: string]>

/** How a file has changed, as a sign; screen readers and the pointer get the word. */
export function ChangeMark({ kind }: { kind: ChangeKind }) {
  const [sign, word] = marks[kind]
  return (
    <span class={`change-mark change-${kind}`} title={word}>
      <span aria-hidden="true">{sign}</span>
      <span class="visually-hidden">{word} </span>
    </span>
  )
}
