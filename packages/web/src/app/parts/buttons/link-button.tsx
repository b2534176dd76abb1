import { Icon, type IconName } from "../../../ui/icon.tsx"
import { Clickable, type ClickProps } from "./button.tsx"

/** A button that looks like a link. `about` is only read out: what the label is about. */
export function LinkButton(
  props: ClickProps & { readonly isDanger?: boolean; readonly about?: string },
) {
  const { isDanger = false, about, children, ...rest } = props
  return (
    <Clickable {...rest} looks={isDanger ? ["link-button", "link-danger"] : ["link-button"]}>
      {children}
      {about === undefined ? null : <span class="visually-hidden"> {about}</span>}
    </Clickable>
  )
}

/** A button with an icon and a count. */
export function CountButton(props: ClickProps & { readonly icon: IconName }) {
  const { icon, children, ...rest } = props
  return (
    <Clickable {...rest} looks={["icon-button", "counted"]}>
      <Icon name={icon} />
      {children}
    </Clickable>
  )
}
