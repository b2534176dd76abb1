import { useSignal } from "@preact/signals"
import { LazyCodeEditor } from "../../../editor/lazy.tsx"
import { setTo } from "../../../ui/bind.ts"
import { EmptyState } from "../../../ui/page-states.tsx"
import { showDone } from "../../frame/toast-list.ts"
import { Button } from "../../parts/buttons/button.tsx"
import { useAction } from "../../parts/buttons/use-action.ts"
import { Markdown } from "../../parts/markdown.tsx"
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
      <div class="row wrap toolbar">
        <Button kind="small" icon="save" disabled={!readme.isDirty.value || isBusy} onClick={save}>
          Save
        </Button>
        <Button
          kind="quiet small"
          onClick={() => {
            if (!readme.isDirty.value || confirm("Discard your changes?")) readme.cancel()
          }}
        >
          Cancel
        </Button>
        <span class="ellipsis save-status" role="status">
          {readme.isDirty.value ? "Unsaved changes" : ""}
        </span>
      </div>
      <div class="readme-columns">
        <div class="column boxed readme-editor">
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
          text="It was saved elsewhere while you were writing. If you save yours, the other one stays in the list of versions. The difference:"
          theirs={theirs.value}
          mine={text}
          path={`${author.username}/${name}.md`}
          label="Changes from the saved readme to yours"
          onClose={setTo(theirs, undefined)}
        >
          <Button kind="quiet" onClick={setTo(theirs, undefined)}>
            Continue writing
          </Button>
          <Button onClick={() => saveOver(theirs.value ?? "")}>Save mine over it</Button>
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
        {onEdit ? <Button onClick={onEdit}>Write a readme</Button> : null}
      </EmptyState>
    )
  return (
    <div class="readme-shown">
      {onEdit ? (
        <div class="row wrap toolbar toolbar-end">
          <Button kind="quiet small" onClick={onEdit}>
            Edit
          </Button>
        </div>
      ) : null}
      <Markdown text={readme} />
    </div>
  )
}
