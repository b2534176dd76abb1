import type { ComponentChildren } from "preact"
import { Icon, type IconName } from "../../../ui/icon.tsx"
import { reportFailure, useAction } from "./use-action.ts"

/** The properties of all buttons. */
export interface ClickProps {
  readonly class?: string
  /** The accessible name, where the label is not enough. */
  readonly label?: string
  readonly title?: string
  readonly disabled?: boolean
  readonly "aria-pressed"?: boolean
  /** What a click does. A failure is reported. */
  readonly onClick?: () => unknown
  /** Like `onClick`, and the button is disabled until it has ended. */
  readonly action?: () => Promise<unknown>
  readonly children: ComponentChildren
}

/** A button with a label. `kind` names its look: `quiet`, `danger`, `quiet small`. */
export function Button(
  props: ClickProps & {
    readonly kind?: string
    readonly icon?: IconName
    readonly "aria-haspopup"?: "dialog"
  },
) {
  const { kind, icon, children, ...rest } = props
  const looks = kind?.split(" ").map((look) => `button-${look}`) ?? []
  return (
    <Clickable {...rest} looks={["button", ...looks]}>
      {icon ? <Icon name={icon} /> : null}
      {children}
    </Clickable>
  )
}

/** What all buttons do: one thing, whose failure is reported. */
export function Clickable(props: ClickProps & { readonly looks: readonly string[] }) {
  const { looks, label, disabled = false, onClick, action, children, ...rest } = props
  const { isBusy, run } = useAction()
  return (
    <button
      {...rest}
      type="button"
      class={[...looks, ...(props.class ? [props.class] : [])].join(" ")}
      aria-label={label}
      disabled={disabled || isBusy}
      onClick={() => void (action ? run(action) : reportFailure(onClick))}
    >
      {children}
    </button>
  )
}
