import type { ComponentChildren } from "preact"
import { useTitle } from "../../ui/page-states.tsx"

/** The heading of a page, which is the title of its browser tab too. */
export function PageHead(props: {
  readonly title: string
  /** A sentence below the title. */
  readonly lead?: ComponentChildren
  /** At the end of the line. */
  readonly end?: ComponentChildren
}) {
  useTitle(props.title)
  return (
    <div class="row wrap page-head">
      <h1>{props.title}</h1>
      {props.end ? <div class="row wrap page-head-end">{props.end}</div> : null}
      {props.lead ? <p class="page-lead">{props.lead}</p> : null}
    </div>
  )
}
