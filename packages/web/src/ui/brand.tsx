import { Icon } from "./icon.tsx"

/** The name of the product, as a link. */
export function Brand(props: {
  readonly href: string
  readonly label?: string
  readonly kind?: "large"
}) {
  const { href, label, kind } = props
  return (
    <a class={kind ? `brand brand-${kind}` : "brand"} href={href} aria-label={label}>
      <Icon name="mark" />
      <span>Hamlet</span>
    </a>
  )
}
