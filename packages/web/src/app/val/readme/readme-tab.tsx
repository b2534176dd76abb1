import { useSignal } from "@preact/signals"
import { LazyCodeEditor } from "../../../editor/lazy.tsx"
import { setTo } from "../../../ui/bind.ts"
import { Icon } from "../../../ui/icon.tsx"
import { EmptyState } from "../../../ui/page-states.tsx"
import { showDone } from "../../frame/toast-list.ts"
import { Markdown } from "../../parts/markdown.tsx"
import { useAction } from "../../parts/use-action.ts"
import { DiffDialog } from "../diff-dialog.tsx"
import type { ValTabProps } from "../val-tab-props.ts"

/** The readme of a val, with an editor for its owner. */
export function ReadmeTab({ editing, readme, isOwn }: ValTabProps) {
  const { author, name } = editing.val.value
  const { isBusy, run } = useAction()
  const theirs = useSignal<string | undefined>(undefined)
  const text = readme.text.value
  if (text === undefined || !isOwn)
    return (
      <Shown
        readme={editing.val.value.readme}
        {...(isOwn ? { onEdit: () => readme.begin() } : {})}
      />
    )
  const save = () =>
    run(async () => {
      const outcome = await readme.save()
      if (outcome.kind === "changed") theirs.value = outcome.theirs
      else showDone("The readme is saved")
    })
  const saveOver = (seen: string) => {
    readme.acceptTheirs(seen)
    theirs.value = undefined
    void save()
  }
  return (
    <div>
      <div class="toolbar">
        <button
          type="button"
          class="button button-small"
          disabled={!readme.isDirty.value || isBusy}
          onClick={() => void save()}
        >
          <Icon name="save" /> Save
        </button>
        <button
          type="button"
          class="button button-quiet button-small"
          onClick={() => {
            if (!readme.isDirty.value || confirm("Discard your changes?")) readme.cancel()
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
            onSave={() => {
              if (!isBusy) void save()
            }}
          />
        </div>
        <section class="readme-preview" aria-label="Preview">
          <Markdown text={text} />
        </section>
      </div>
      {theirs.value === undefined ? null : (
        <DiffDialog
          title="The readme was changed elsewhere"
          text="It was saved elsewhere while you were writing. A readme has no versions: saving yours overwrites it. The difference:"
          theirs={theirs.value}
          mine={text}
          path={`${author.username}/${name}.md`}
          label="Changes from the saved readme to yours"
          onClose={setTo(theirs, undefined)}
        >
          <button type="button" class="button button-quiet" onClick={setTo(theirs, undefined)}>
            Continue writing
          </button>
          <button type="button" class="button" onClick={() => saveOver(theirs.value ?? "")}>
            Save mine over it
          </button>
        </DiffDialog>
      )}
    </div>
  )
}

function Shown({ readme, onEdit }: { readme: string | null; onEdit?: () => void }) {
  if (readme === null)
    return (
      <EmptyState icon="comment" title="No readme">
        <p>A readme explains the val and how to use it, in Markdown. The search covers it too.</p>
        {onEdit ? (
          <button type="button" class="button" onClick={onEdit}>
            Write a readme
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
