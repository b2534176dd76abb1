import type { ComponentChildren } from "preact"
import { Dialog } from "../../../ui/dialog.tsx"
import { Form, type FormProps } from "./form.tsx"

/** A form in a dialog. */
export function FormDialog(
  props: Omit<FormProps, "foot"> & {
    readonly title: string
    readonly size?: "wide"
    readonly intro?: ComponentChildren
    readonly onClose: () => void
  },
) {
  const { title, size, intro, onClose, ...form } = props
  return (
    <Dialog title={title} onClose={onClose} {...(size ? { kind: size } : {})}>
      {intro}
      <Form {...form} foot="dialog-foot" />
    </Dialog>
  )
}
