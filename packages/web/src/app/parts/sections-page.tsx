import type { ComponentChildren, ComponentType } from "preact"
import type { IconName } from "../../ui/icon.tsx"
import { useTitle } from "../../ui/page-states.tsx"
import { NotFound } from "../data/loaded.tsx"
import { LinkTabs } from "./link-tabs.tsx"
import { PageHead } from "./page-head.tsx"

interface PageSection {
  readonly label: string
  readonly icon?: IconName
  readonly View: ComponentType
}

/** A page of several sections with tabs. Each has an address of its own; the first has no name. */
export function SectionsPage(props: {
  readonly title: string
  readonly lead?: ComponentChildren
  /** At the end of the line of the title. */
  readonly end?: ComponentChildren
  readonly path: string
  /** Follows the address of every section, such as `?val=blog`. */
  readonly search?: string
  /** Puts something around the section that is shown. */
  readonly around?: (view: ComponentChildren) => ComponentChildren
  readonly sections: Readonly<Record<string, PageSection>>
  readonly current: string
}) {
  const { path, search = "", sections, current, around = same, ...head } = props
  useTitle(head.title)
  const shown = Object.hasOwn(sections, current) ? sections[current] : undefined
  if (!shown) return <NotFound />
  const toHref = (name: string) => (name === "" ? path : `${path}/${name}`) + search
  return (
    <>
      <PageHead {...head} />
      <LinkTabs
        label={head.title}
        current={toHref(current)}
        tabs={Object.entries(sections).map(([name, tab]) => ({ ...tab, href: toHref(name) }))}
      />
      <div class="tab-part">{around(<shown.View />)}</div>
    </>
  )
}

function same(view: ComponentChildren): ComponentChildren {
  return view
}
