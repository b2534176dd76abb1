import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"

/** A part of a page with a heading. */
export function Section(props: {
  readonly title: string
  /** For links to it. */
  readonly id?: string
  readonly kind?: string
  /** Stands at the end of the line of the heading. */
  readonly end?: ComponentChildren
  readonly children: ComponentChildren
}) {
  const id = useId()
  return (
    <section id={props.id} class={props.kind ?? "section"} aria-labelledby={id}>
      <div class="wrap section-head">
        <h2 id={id}>{props.title}</h2>
        {props.end}
      </div>
      {props.children}
    </section>
  )
}
