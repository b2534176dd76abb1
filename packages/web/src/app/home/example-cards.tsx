import { useSignal } from "@preact/signals"
import { Icon } from "../../ui/icon.tsx"
import { createFromExample } from "../val/create-val.ts"
import { type Example, examples } from "./examples.ts"

/** Examples that become vals with one click. */
export function ExampleCards() {
  const busyKey = useSignal<string | undefined>(undefined)
  const create = async (example: Example) => {
    busyKey.value = example.key
    await createFromExample(example)
    busyKey.value = undefined
  }
  return (
    <ul class="example-cards">
      {examples.map((example) => (
        <li key={example.key}>
          <button
            type="button"
            class="example-card"
            disabled={busyKey.value !== undefined}
            onClick={() => void create(example)}
          >
            <span class="empty-icon">
              <Icon name={example.icon} />
            </span>
            <span class="example-title">{example.title}</span>
            <span class="example-summary">
              {busyKey.value === example.key ? "Creating…" : example.summary}
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}
