import type { ComponentChildren } from "preact"
import { CopyButton } from "../../../ui/copy-button.tsx"
import { AddressText } from "../address-text.tsx"

/** A text to be copied. */
export function CopyText({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <p class="row made-text">
      <code>
        <AddressText text={text} />
      </code>
      <CopyButton text={text} label={label} />
    </p>
  )
}

/** Something that was just made, with a text that is shown only now. */
export function MadeBox(props: {
  readonly text: string
  readonly label: string
  readonly children: ComponentChildren
}) {
  return (
    <div class="made card card-pad" role="status">
      <p>{props.children}</p>
      <CopyText text={props.text} label={props.label} />
    </div>
  )
}
