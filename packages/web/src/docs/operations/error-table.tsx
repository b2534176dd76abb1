import { errorMeanings } from "./error-meanings.ts"
import { InlineText } from "./inline-code.tsx"

interface ErrorTableProps {
  readonly errors: readonly { readonly code: string; readonly status: string }[]
}

/** Error codes with their status and meaning. */
export function ErrorTable({ errors }: ErrorTableProps) {
  const sorted = errors.toSorted((one, other) => one.status.localeCompare(other.status))
  return (
    <ul>
      {sorted.map(({ code, status }) => (
        <li key={code} class="ruled error">
          <span class="badge status-error">{status}</span>
          <div>
            <code class="breaks error-code">{code}</code>
            <p class="field-text">
              <InlineText>{errorMeanings[code] ?? ""}</InlineText>
            </p>
          </div>
        </li>
      ))}
    </ul>
  )
}
