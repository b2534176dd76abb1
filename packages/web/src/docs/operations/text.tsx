import { toTextParts } from "./inline-code.ts"

/** A sentence of the description, with what stands in backticks as code. */
export function Text({ children }: { children: string }) {
  return (
    <>{toTextParts(children).map((part) => (part.isCode ? <code>{part.text}</code> : part.text))}</>
  )
}
