import { type RunItem, toRunTitle, toTone } from "./run-title.ts"

/** How a run ended, in the colour of that: the status of a response, or a word. */
export function RunResult({ run }: { readonly run: RunItem }) {
  const { result } = toRunTitle(run)
  return result === null ? (
    <span class="visually-hidden"> succeeded</span>
  ) : (
    <span class={`nowrap run-result run-result-${toTone(run)}`}>
      <span class="run-arrow"> → </span>
      {result}
    </span>
  )
}
