import { readmePath } from "@hamlet/contract/entry-file"
import { useEffect } from "preact/hooks"
import { Bars, EmptyState } from "../../ui/page-states.tsx"
import { navigate } from "../frame/location.ts"
import { Button } from "../parts/buttons/button.tsx"
import { Markdown } from "../parts/markdown.tsx"
import type { ValTabProps } from "./val-tab-props.ts"

/** The readme of a val: its file README.md, which its owner edits like any other. */
export function ReadmeTab({ editing, isOwn, base }: ValTabProps) {
  const { files, branch } = editing
  const file = files.present.value.find(({ path }) => path.value === readmePath)
  useEffect(() => void file?.load(), [file])
  const edit = () => {
    files.open(file ?? files.add(readmePath, "file"))
    const query = new URLSearchParams({
      ...(branch.peek().id === editing.val.peek().id ? {} : { branch: branch.peek().name }),
      file: readmePath,
    })
    navigate(`${base}?${query}`)
  }
  if (!file)
    return (
      <EmptyState icon="comment" title="No readme">
        <p>A readme explains the val and how to use it, in Markdown. The search covers it too.</p>
        {isOwn ? <Button onClick={edit}>Write a readme</Button> : null}
      </EmptyState>
    )
  return (
    <div class="readme-shown">
      {isOwn ? (
        <div class="row wrap toolbar">
          <span class="push" />
          <Button kind="quiet small" onClick={edit}>
            Edit
          </Button>
        </div>
      ) : null}
      {file.text.value === undefined ? <Bars count={4} /> : <Markdown text={file.text.value} />}
    </div>
  )
}
