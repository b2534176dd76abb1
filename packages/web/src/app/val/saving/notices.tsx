import { useSignal } from "@preact/signals"
import { setTo } from "../../../ui/bind.ts"
import { Icon } from "../../../ui/icon.tsx"
import { usePoll } from "../../data/poll.ts"
import { LinkButton } from "../../parts/buttons/link-button.tsx"
import { toAgo } from "../../parts/time.ts"
import type { RecoverableDraft } from "../drafts/draft.ts"
import type { ValTabProps } from "../val-tab-props.ts"

/** Reports unsaved text from before, of this tab or of a closed one, and offers to restore it. */
export function DraftNotice({ editing }: Pick<ValTabProps, "editing">) {
  const isKept = useSignal(false)
  const { restored } = editing.drafts
  if (restored && !isKept.value && editing.isDirty.value)
    return (
      <p class="row wrap small notice" role="status">
        <span>This is your unsaved text from {toAgo(new Date(restored.at).toISOString())}.</span>
        <span class="notice-actions">
          <LinkButton onClick={setTo(isKept, true)}>Keep</LinkButton>
          <LinkButton
            onClick={() => {
              void editing.takeSaved()
              isKept.value = true
            }}
          >
            Use the saved version
          </LinkButton>
        </span>
      </p>
    )
  const draft = editing.drafts.recoverable.value
  if (!draft) return null
  return (
    <p class="row wrap small notice" role="status">
      <span>{describe(draft)}</span>
      <span class="notice-actions">
        <LinkButton onClick={() => editing.recover(draft)}>Restore</LinkButton>
        <LinkButton onClick={() => editing.drafts.discard(draft)}>Discard</LinkButton>
      </span>
    </p>
  )
}

function describe({ at, isSetAside }: RecoverableDraft): string {
  const ago = toAgo(new Date(at).toISOString())
  return isSetAside
    ? `Your unsaved text was set aside ${ago}.`
    : `Another tab with unsaved text of this val was closed ${ago}.`
}

/** How often the server is asked, and also when the user returns to the tab. */
const pollMs = 5_000

/** Says that the val was saved elsewhere, before the next save does. */
export function ElsewhereNotice({ editing, isOwn }: Pick<ValTabProps, "editing" | "isOwn">) {
  usePoll(pollMs, () => (isOwn ? editing.look() : undefined))
  const theirs = editing.elsewhere.value
  if (!theirs) return null
  return (
    <p class="row wrap small notice" role="status">
      <span>Version {theirs.branch.version} was saved elsewhere.</span>
      <span class="notice-actions">
        <LinkButton onClick={() => editing.showElsewhere(theirs)}>
          {editing.isDirty.value ? "See the difference" : `Show version ${theirs.branch.version}`}
        </LinkButton>
      </span>
    </p>
  )
}

/** Why the version that was just saved cannot run. */
export function SaveProblemNotice(
  props: Pick<ValTabProps, "editing"> & {
    readonly onGoTo: (path: string, line: number) => void
  },
) {
  const { editing, onGoTo } = props
  const [problem, ...others] = editing.problems.value
  if (!problem) return null
  const { path, message, line } = problem
  const isHere = path === undefined || path === editing.files.current.value?.path.value
  return (
    <p class="row wrap small notice notice-problem" role="alert">
      <Icon name="warning" />
      <span class="breaks">
        {isHere ? "" : `${path}: `}
        {message}
        {others.length === 0 ? "" : ` (and ${others.length} more)`}
      </span>
      {line === undefined || path === undefined ? null : (
        <LinkButton onClick={() => onGoTo(path, line)}>Go to line {line}</LinkButton>
      )}
    </p>
  )
}
