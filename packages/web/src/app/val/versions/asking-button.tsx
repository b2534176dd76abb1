import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { setTo } from "../../../ui/bind.ts"
import { Dialog } from "../../../ui/dialog.tsx"
import { Button } from "../../parts/buttons/button.tsx"
import { LinkButton } from "../../parts/buttons/link-button.tsx"

/** A button that does something after a question. A failure is reported, and the question ends. */
export function AskingButton(props: {
  readonly label: string
  /** What the label is about: the accessible name and the question contain it. */
  readonly about: string
  readonly confirmLabel: string
  readonly action: () => Promise<void>
  readonly isDanger?: boolean
  /** What will happen. */
  readonly children: ComponentChildren
}) {
  const { label, about, confirmLabel, action, isDanger = false, children } = props
  const isAsking = useSignal(false)
  const act = async () => {
    try {
      await action()
    } finally {
      isAsking.value = false
    }
  }
  return (
    <>
      <LinkButton isDanger={isDanger} label={`${label} ${about}`} onClick={setTo(isAsking, true)}>
        {label}
      </LinkButton>
      {isAsking.value ? (
        <Dialog title={`${label} ${about}?`} onClose={setTo(isAsking, false)}>
          <p>{children}</p>
          <div class="row wrap dialog-foot">
            <Button {...(isDanger ? { kind: "danger" } : {})} action={act}>
              {confirmLabel}
            </Button>
          </div>
        </Dialog>
      ) : null}
    </>
  )
}
