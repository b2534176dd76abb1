import { useSignal } from "@preact/signals"
import { LazyCodeEditor } from "../../../editor/lazy.tsx"
import { Icon } from "../../../ui/icon.tsx"
import { EmptyState } from "../../data/page-states.tsx"
import { sayDone, sayFailed } from "../../frame/toast-list.ts"
import { Markdown } from "../../parts/markdown.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import { ReadmeConflict } from "./readme-conflict.tsx"

/** What a val says of itself, and to its owner the text of it. */
export function ReadmeTab({ editing, readme, isOwn }: ValTabProps) {
  const { author, name } = editing.val.value
  const isBusy = useSignal(false)
  const theirs = useSignal<string | undefined>(undefined)
  const text = readme.text.value
  if (text === undefined || !isOwn)
    return (
      <Shown
        readme={editing.val.value.readme}
        {...(isOwn ? { onEdit: () => readme.begin() } : {})}
      />
    )
  const save = async () => {
    if (isBusy.value) return
    isBusy.value = true
    try {
      const outcome = await readme.save()
      if (outcome.kind === "changed") theirs.value = outcome.theirs
      else sayDone("The readme is saved")
    } catch (error) {
      sayFailed(error)
    } finally {
      isBusy.value = false
    }
  }
  const saveOver = (seen: string) => {
    readme.hasSeen(seen)
    theirs.value = undefined
    void save()
  }
  return (
    <div class="readme-editing">
      <div class="toolbar">
        <button
          type="button"
          class="button button-small"
          disabled={!readme.isDirty.value || isBusy.value}
          onClick={() => void save()}
        >
          <Icon name="save" /> Save
        </button>
        <button
          type="button"
          class="button button-quiet button-small"
          onClick={() => {
            if (!readme.isDirty.value || confirm("Forget what you have changed?")) readme.cancel()
          }}
        >
          Cancel
        </button>
        <span class="save-status" role="status">
          {readme.isDirty.value ? "Unsaved changes" : ""}
        </span>
      </div>
      <div class="readme-columns">
        <div class="readme-editor">
          <LazyCodeEditor
            value={readme.text.peek() ?? ""}
            language="markdown"
            path={`${author.username}/${name}.md`}
            label={`Readme of ${author.username}/${name}`}
            onChange={(changed) => readme.type(changed)}
            onSave={() => void save()}
          />
        </div>
        <section class="readme-preview" aria-label="How it will look">
          <Markdown text={text} />
        </section>
      </div>
      {theirs.value === undefined ? null : (
        <ReadmeConflict
          theirs={theirs.value}
          mine={text}
          path={`${author.username}/${name}.md`}
          onSaveMine={saveOver}
          onClose={() => {
            theirs.value = undefined
          }}
        />
      )}
    </div>
  )
}

function Shown({ readme, onEdit }: { readme: string | null; onEdit?: () => void }) {
  if (readme === null)
    return (
      <EmptyState icon="comment" title="No readme">
        <p>
          A readme says what the val is for and how to use it, in Markdown. Search looks through it
          too.
        </p>
        {onEdit ? (
          <button type="button" class="button" onClick={onEdit}>
            Write one
          </button>
        ) : null}
      </EmptyState>
    )
  return (
    <div class="readme-shown">
      {onEdit ? (
        <div class="toolbar toolbar-end">
          <button type="button" class="button button-quiet button-small" onClick={onEdit}>
            Edit
          </button>
        </div>
      ) : null}
      <Markdown text={readme} />
    </div>
  )
}
