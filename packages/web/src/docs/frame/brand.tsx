import { Icon } from "../../ui/icon.tsx"

/** The name of the product, and the way to the overview. */
export function Brand({ version }: { version?: string | undefined }) {
  return (
    <a class="brand" href="#overview">
      <Icon name="mark" />
      <span>Hamlet</span>
      {version ? <span class="brand-version">{version}</span> : null}
    </a>
  )
}
