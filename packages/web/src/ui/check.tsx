import type { ComponentChildren } from "preact"

/** A box that can be ticked, and what it means. */
export function Check(props: {
  readonly checked: boolean
  readonly onChange: () => void
  readonly class?: string
  readonly children: ComponentChildren
}) {
  return (
    <label class={props.class ? `check ${props.class}` : "check"}>
      <input type="checkbox" checked={props.checked} onChange={props.onChange} />
      <span>{props.children}</span>
    </label>
  )
}
