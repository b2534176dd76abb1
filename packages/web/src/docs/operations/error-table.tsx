import { errorMeanings } from "./error-meanings.ts"
import { Text } from "./text.tsx"

interface ErrorTableProps {
  readonly errors: readonly { readonly code: string; readonly status: string }[]
}

/** Error codes with their status and meaning. */
export function ErrorTable({ errors }: ErrorTableProps) {
  const sorted = errors.toSorted((one, other) => one.status.localeCompare(other.status))
  return (
    <ul class="errors">
      {sorted.map(({ code, status }) => (
        <li key={code} class="error">
          <span class="status status-error">{status}</span>
          <div>
            <code class="error-code">{code}</code>
            <p class="field-text">
              <Text>{errorMeanings[code] ?? ""}</Text>
            </p>
          </div>
        </li>
      ))}
    </ul>
  )
}
