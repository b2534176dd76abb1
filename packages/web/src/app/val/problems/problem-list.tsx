import { Icon } from "../../../ui/icon.tsx"
import type { ValTabProps } from "../val-tab-props.ts"

/** The problems of all files; each leads to its line. */
export function ProblemList({ problems, actions }: Pick<ValTabProps, "problems" | "actions">) {
  const found = problems.all.value
  if (found.length === 0) return <p class="quiet drawer-empty">No problems found.</p>
  return (
    <ul class="problem-list" aria-label="Problems">
      {found.map(({ path, line, message }) => (
        <li key={`${path} ${line} ${message}`}>
          <button
            type="button"
            class="row pick problem-row"
            disabled={path === undefined}
            onClick={() => {
              if (path !== undefined) actions.goTo(path, line ?? 1)
            }}
          >
            <Icon name="warning" />
            {path === undefined ? null : (
              <code class="breaks problem-place">
                {line === undefined ? path : `${path}:${line}`}
              </code>
            )}{" "}
            <span class="breaks">{message}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}
