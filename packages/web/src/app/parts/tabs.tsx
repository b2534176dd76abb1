import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { Icon, type IconName } from "../../ui/icon.tsx"

/** A part of a page with an address of its own. */
export interface Tab {
  readonly href: string
  readonly label: string
  readonly icon?: IconName
  readonly count?: number | undefined
}

/**
 * Links to the parts of a page. They are links: each part can be opened in a tab of the browser,
 * and gone back to.
 */
export function Tabs({
  label,
  tabs,
  current,
  end,
}: {
  label: string
  tabs: readonly Tab[]
  current: string
  end?: ComponentChildren
}) {
  const list = useRef<HTMLElement>(null)
  // On a narrow screen the part that one is at may be beyond the edge.
  useLayoutEffect(() => {
    const here = list.current?.querySelector("[aria-current]")?.getBoundingClientRect()
    const seen = list.current?.getBoundingClientRect()
    if (!here || !seen || (here.left >= seen.left && here.right <= seen.right)) return
    list.current?.scrollBy({ left: here.left - seen.left - (seen.width - here.width) / 2 })
  }, [current])
  return (
    <div class="tabs">
      <nav ref={list} class="tabs-list" aria-label={label}>
        {tabs.map(({ href, label, icon, count }) => (
          <a
            key={href}
            href={href}
            {...(href === current ? { "aria-current": "page" as const } : {})}
          >
            {icon ? <Icon name={icon} /> : null}
            {label}
            {count ? <span class="count">{count}</span> : null}
          </a>
        ))}
      </nav>
      {end}
    </div>
  )
}
