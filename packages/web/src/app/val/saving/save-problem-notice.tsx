import { Icon } from "../../../ui/icon.tsx"
import type { ValTabProps } from "../val-tab-props.ts"

/** Why the version that was just saved cannot run. */
export function SaveProblemNotice(
  props: Pick<ValTabProps, "editing"> & { readonly onGoTo: (line: number) => void },
) {
  const { editing, onGoTo } = props
  const problem = editing.problem.value
  if (!problem) return null
  const { message, line } = problem
  return (
    <p class="notice notice-problem" role="alert">
      <Icon name="warning" />
      <span class="notice-text">{message}</span>
      {line === undefined ? null : (
        <button type="button" class="link-button" onClick={() => onGoTo(line)}>
          Go to line {line}
        </button>
      )}
    </p>
  )
}
